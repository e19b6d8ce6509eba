import { MAX_NONCE_BYTES, type ErrorCode, type JsonObject, type JsonValue } from '@remotes-hub/protocol';
import type { JsonText } from '../json/json-text.js';
import { MessageText } from '../json/message-text.js';

/** A message whose envelope can be read. */
export interface Envelope {
  readonly action: string;
  readonly nonce: JsonText | undefined;
  readonly message: MessageText;
  /** The whole message, parsed. */
  readonly value: JsonObject;
}

/** A frame that is no message, or one that cannot be handled. Becomes an error reply, with the nonce if there is one. */
export class EnvelopeError extends Error {
  override readonly name = 'EnvelopeError';

  constructor(
    readonly code: Extract<ErrorCode, 'malformed-message'>,
    message: string,
    readonly nonce?: JsonText,
    /** Set when the frame was meant as an answer to this call, which then fails. */
    readonly requestId?: string,
    /** What the frame asked for, where that can be told. */
    readonly action?: string,
  ) {
    super(message);
  }
}

/**
 * Reads a frame's envelope.
 * @param message what scanning the text gave, where that is known
 * @throws {EnvelopeError}
 */
export function readEnvelope(frame: Buffer, maxDepth: number, message = MessageText.read(frame)): Envelope {
  if (message === undefined) throw new EnvelopeError('malformed-message', whyNoObject(frame.toString()));
  if (message.depth > maxDepth) throw tooDeep(message, maxDepth);
  const value = parseMessage(message);
  const action = Object.hasOwn(value, 'action') ? value['action'] : undefined;
  const nonce = message.member('nonce');
  if (nonce !== undefined && isTooLong(nonce)) {
    if (isUnanswered(action)) return { action, nonce: undefined, message, value };
    const reason = `nonce: longer than ${MAX_NONCE_BYTES} bytes`;
    const named = typeof action === 'string' ? action : undefined;
    throw new EnvelopeError('malformed-message', reason, undefined, undefined, named);
  }
  if (typeof action !== 'string') {
    throw new EnvelopeError('malformed-message', 'action: expected a string', nonce);
  }
  return { action, nonce, message, value };
}

/** Whether messages of this action are never answered; a nonce of theirs is as good as any unknown field. */
export function isUnanswered(action: unknown): action is string {
  return action === 'remote-call-result' || action === 'remote-call-progress';
}

function isTooLong(nonce: JsonText): boolean {
  return Buffer.byteLength(nonce.text) > MAX_NONCE_BYTES;
}

function parseMessage(message: MessageText): JsonObject {
  let value: JsonValue;
  try {
    value = message.parse();
  } catch {
    throw new EnvelopeError('malformed-message', 'the frame is not well-formed JSON');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new EnvelopeError('malformed-message', 'the frame is not a JSON object');
}

function whyNoObject(text: string): string {
  const isOtherJson = /^[\s]*["[\dntf-]/u.test(text) && isShallowJson(text);
  return isOtherJson ? 'the frame is JSON, but not an object' : 'the frame is not well-formed JSON';
}

/** Text that is long may be deep; its kind is not worth the parsing. */
function isShallowJson(text: string): boolean {
  if (text.length > 4_096) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A message too deep to parse, whose small members can still be read. */
function tooDeep(message: MessageText, maxDepth: number): EnvelopeError {
  const nonce = readableNonce(message);
  const action = smallString(message.member('action'));
  const requestId = action === 'remote-call-result' ? smallString(message.member('requestId')) : undefined;
  const text = `the message is nested deeper than ${maxDepth} levels`;
  return new EnvelopeError('malformed-message', text, nonce, requestId, action);
}

function readableNonce(message: MessageText): JsonText | undefined {
  const nonce = message.member('nonce');
  if (nonce === undefined || isTooLong(nonce)) return undefined;
  try {
    nonce.parse();
    return nonce;
  } catch {
    return undefined;
  }
}

function smallString(json: JsonText | undefined): string | undefined {
  if (json === undefined || json.text.length > 1_024) return undefined;
  try {
    const value = json.parse();
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
