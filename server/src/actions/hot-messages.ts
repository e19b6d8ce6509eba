import {
  executedValues,
  traceparentPattern,
  type RemoteCall,
  type RemoteCallProgress,
  type RemoteCallResult,
} from '@remotes-hub/protocol';
import type { JsonText } from '../json/json-text.js';
import type { Member } from '../json/message-places.js';
import { MessageText } from '../json/message-text.js';
import type { WrittenMessage } from '../json/written-message.js';
import { SHORT_NONCE_LENGTH, isCallTimeout, isName } from './call-bounds.js';
import { UsualMessage } from './usual-messages.js';

/*
 * The messages of a call, which must be well-formed, read from their text: only errors are parsed here, and `args` where
 * they are validated. Their schemas stay the definition and judge whatever is written in another way; a test shows that nothing is
 * recognised that they refuse, or read otherwise.
 */

const callMembers = ['action', 'nonce', 'body'];
const callBodyMembers = ['remotename', 'function', 'args', 'timeoutMs', 'traceparent', 'tracestate'];
const resultMembers = ['action', 'requestId', 'result', 'error', 'executed'];
const progressMembers = ['action', 'requestId', 'progress'];

/** A string without escapes, and no longer than any that is looked for here. */
const plainString = /^"[^"\\\p{Cc}]{0,300}"$/u;
const plainTracestate = /^[\x20-\x7e]+$/u;
const plainInteger = /^(?:0|-?[1-9]\d{0,14})$/u;

/** A `remote-call`, without its nonce and `args`: request and message have them as text, which may be all that is needed. */
export function recogniseCall(written: WrittenMessage): RemoteCall | undefined {
  if (written instanceof UsualMessage)
    return written.message.action === 'remote-call' ? written.message : undefined;
  return written instanceof MessageText ? readCall(written) : undefined;
}

function readCall(message: MessageText): RemoteCall | undefined {
  const { members, bodyMembers } = message;
  if (!areOnce(members, callMembers) || !areOnce(bodyMembers, callBodyMembers)) return undefined;
  if (!isShort(message.member('nonce'))) return undefined;
  const remotename = readName(message.bodyMember('remotename'));
  const functionName = readName(message.bodyMember('function'));
  if (remotename === undefined || functionName === undefined) return undefined;
  const call: RemoteCall = { action: 'remote-call', body: { remotename, function: functionName } };
  if (message.bodyMember('args')?.isObject === false) return undefined;
  const timeoutMs = message.bodyMember('timeoutMs');
  if (timeoutMs !== undefined) {
    const value = plainInteger.test(timeoutMs.text) ? Number(timeoutMs.text) : 0;
    if (!isCallTimeout(value)) return undefined;
    call.body.timeoutMs = value;
  }
  return readTrace(message, call);
}

/** The call with its trace context; a malformed one is left to the schema. */
function readTrace(message: MessageText, call: RemoteCall): RemoteCall | undefined {
  const traceparent = message.bodyMember('traceparent');
  if (traceparent !== undefined) {
    call.body.traceparent = readPlainString(traceparent);
    if (!traceparentPattern.test(call.body.traceparent ?? '')) return undefined;
  }
  const tracestate = message.bodyMember('tracestate');
  if (tracestate !== undefined) {
    call.body.tracestate = readPlainString(tracestate);
    if (!plainTracestate.test(call.body.tracestate ?? '')) return undefined;
  }
  return call;
}

/** A `remote-call-result`, without its result: the message has it as text. */
export function recogniseResult(written: WrittenMessage): RemoteCallResult | undefined {
  if (written instanceof UsualMessage)
    return written.message.action === 'remote-call' ? undefined : written.message;
  return written instanceof MessageText ? readResult(written) : undefined;
}

function readResult(message: MessageText): RemoteCallResult | undefined {
  if (!areOnce(message.members, resultMembers)) return undefined;
  const requestId = readPlainString(message.member('requestId'));
  if (requestId === undefined) return undefined;
  const answer: RemoteCallResult = { action: 'remote-call-result', requestId };
  const error = message.member('error');
  if (error !== undefined) answer.error = error.parse();
  const executed = message.member('executed');
  if (executed !== undefined) {
    const text = readPlainString(executed);
    answer.executed = executedValues.find((value) => value === text);
    if (answer.executed === undefined) return undefined;
  }
  return answer;
}

/** A `remote-call-progress`, without its progress. */
export function recogniseProgress(message: WrittenMessage): RemoteCallProgress | undefined {
  if (!(message instanceof MessageText) || !areOnce(message.members, progressMembers)) return undefined;
  const requestId = readPlainString(message.member('requestId'));
  return requestId === undefined ? undefined : { action: 'remote-call-progress', requestId };
}

/** Whether no member has another name than these, and none comes twice. */
function areOnce(members: readonly Member[], names: readonly string[]): boolean {
  let seen = 0;
  for (const { name } of members) {
    const index = names.indexOf(name);
    const bit = 1 << index;
    if (index === -1 || (seen & bit) !== 0) return false;
    seen |= bit;
  }
  return true;
}

/** Whether it is a nonce of the usual kinds, far below the bound, or none. */
function isShort(nonce: JsonText | undefined): boolean {
  if (nonce === undefined) return true;
  return (
    nonce.text.length <= SHORT_NONCE_LENGTH && (plainInteger.test(nonce.text) || plainString.test(nonce.text))
  );
}

function readPlainString(json: JsonText | undefined): string | undefined {
  return json !== undefined && plainString.test(json.text) ? json.text.slice(1, -1) : undefined;
}

function readName(json: JsonText | undefined): string | undefined {
  const name = readPlainString(json);
  return name !== undefined && isName(name) ? name : undefined;
}
