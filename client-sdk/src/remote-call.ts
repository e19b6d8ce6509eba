import type { JsonObject, JsonValue } from '@remotes-hub/protocol';
import { MAX_CALL_TIMEOUT_MS, REMOTE_CALL_TIMEOUT_MS } from '@remotes-hub/protocol/limits';
import type { PendingRequests } from './calls.js';
import { RemoteError, closedConnection, type Failure } from './errors.js';
import { callListener } from './events.js';
import { checkName } from './checks.js';
import { encodeJson, frameProblem, isJsonObject } from './json-values.js';
import type { Line } from './line.js';
import { parseCallOptions, type CallOptions } from './options.js';

/** How much longer than the hub a call waits, in milliseconds: only a silent hub meets this deadline. */
const SAFETY_MARGIN_MS = 5_000;

/** One call, as it was asked for. */
export interface RemoteCallRequest {
  readonly remotename: string;
  readonly functionName: string;
  readonly args: unknown;
  readonly options: CallOptions;
}

/**
 * Sends a call and waits for its end.
 * @throws {TypeError | RangeError} a name or an option is wrong, `args` are no object, or hold what JSON cannot
 * @throws {RemoteError} for every other failure
 */
export async function callRemote(
  line: Line,
  pending: PendingRequests,
  request: RemoteCallRequest,
): Promise<JsonValue> {
  const { remotename, functionName } = request;
  checkName(remotename, 'remotename');
  checkName(functionName, 'functionName');
  const options = parseCallOptions(request.options);
  const { signal, onProgress } = options;
  const toError = (failure: Failure): RemoteError => new RemoteError(failure, remotename, functionName);
  const nonce = pending.newNonce();
  checkArgs(request.args);
  if (signal?.aborted === true) throw toError(cancelled(signal, 'no'));
  const timeoutMs = line.isOpen ? options.timeoutMs : await untilOpen(line, options, toError);
  const frame = encodeCall(nonce, request, timeoutMs, line.maxMessageBytes, toError);
  if (!line.send(frame)) throw toError(closedConnection(line.ending));

  const result = pending.expect(nonce, {
    what: `${remotename}.${functionName}`,
    read: readResult,
    toError,
    timeoutMs: (timeoutMs ?? MAX_CALL_TIMEOUT_MS) + SAFETY_MARGIN_MS,
    maxTimeoutMs: MAX_CALL_TIMEOUT_MS + SAFETY_MARGIN_MS,
    progressed: onProgress && ((progress) => callListener('onProgress', onProgress, progress)),
  });
  if (signal === undefined) return await result;
  const cancel = (): void => {
    if (!pending.fail(nonce, cancelled(signal, 'unknown'))) return;
    line.send(JSON.stringify({ action: 'remote-call-cancel', body: { nonce } }));
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await result;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function readResult({ result }: JsonObject): JsonValue | undefined {
  return result;
}

function encodeCall(
  nonce: string,
  { remotename, functionName, args, options }: RemoteCallRequest,
  timeoutMs: number | undefined,
  maxMessageBytes: number,
  toError: (failure: Failure) => RemoteError,
): string {
  let isShallow = false;
  const { traceparent, tracestate } = options;
  const body = JSON.stringify({ remotename, function: functionName, timeoutMs, traceparent, tracestate });
  let frame = `{"action":"remote-call","nonce":"${nonce}","body":${body.slice(0, -1)},"args":`;
  try {
    const encoded = encodeJson(args, 'args');
    frame += `${encoded.text}}}`;
    isShallow = encoded.isShallow;
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw toError({ code: 'invalid-arguments', executed: 'no', message: cause.message, cause });
  }
  const problem = frameProblem(frame, maxMessageBytes, isShallow);
  if (problem === undefined) return frame;
  throw toError({ code: problem.code, executed: 'no', message: `the call ${problem.text}` });
}

function checkArgs(args: unknown): void {
  if (!isJsonObject(args)) throw new TypeError('args: expected an object');
}

/**
 * Waits for a connection within the time of the call.
 * @returns what is left of that time, when the caller has set one
 */
async function untilOpen(
  line: Line,
  { timeoutMs, signal }: CallOptions,
  toError: (failure: Failure) => RemoteError,
): Promise<number | undefined> {
  const start = Date.now();
  const isOpen = await line.whenOpen(timeoutMs ?? REMOTE_CALL_TIMEOUT_MS, signal);
  if (signal?.aborted === true) throw toError(cancelled(signal, 'no'));
  if (!isOpen) throw toError({ ...closedConnection(line.ending), retryable: line.ending === undefined });
  return timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - (Date.now() - start));
}

function cancelled(signal: AbortSignal | undefined, executed: 'no' | 'unknown'): Failure {
  return { code: 'call-cancelled', executed, message: 'the call was cancelled', cause: signal?.reason };
}
