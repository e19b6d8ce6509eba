import type { JsonValue } from '@remotes-hub/protocol';
import { MAX_CALL_TIMEOUT_MS, REMOTE_CALL_TIMEOUT_MS } from '@remotes-hub/protocol/limits';
import type { PendingRequests } from './calls.js';
import { RemoteError, closedConnection, type Failure } from './errors.js';
import { callListener } from './events.js';
import { encodeJson, frameProblem, isJsonObject } from './json-values.js';
import type { Line } from './line.js';
import type { CallOptions } from './options.js';

/** How much longer than the hub a call waits, in milliseconds: only a silent hub meets this deadline. */
const SAFETY_MARGIN_MS = 5_000;

/** One call, its names and options checked. */
export interface RemoteCallRequest {
  readonly remotename: string;
  readonly functionName: string;
  readonly args: unknown;
  readonly options: CallOptions;
}

/**
 * Sends a call and waits for its end.
 * @throws {TypeError} `args` are no object, or hold what JSON cannot
 * @throws {RemoteError} for every other failure
 */
export async function callRemote(
  line: Line,
  pending: PendingRequests,
  request: RemoteCallRequest,
): Promise<JsonValue> {
  const { remotename, functionName, options } = request;
  const { signal, onProgress } = options;
  const toError = (failure: Failure): RemoteError => new RemoteError(failure, remotename, functionName);
  const nonce = pending.newNonce();
  checkArgs(request.args);
  if (signal?.aborted === true) throw toError(cancelled(signal, 'no'));
  const timeoutMs = line.isOpen ? options.timeoutMs : await untilOpen(line, options, toError);
  const frame = encodeCall(nonce, { ...request, timeoutMs }, line.maxMessageBytes, toError);
  if (!line.send(frame)) throw toError(closedConnection(line.ending));

  const cancel = (): void => {
    if (!pending.fail(nonce, cancelled(signal, 'unknown'))) return;
    line.send(JSON.stringify({ action: 'remote-call-cancel', body: { nonce } }));
  };
  const result = pending.expect(nonce, {
    what: `${remotename}.${functionName}`,
    read: (reply) => reply['result'],
    toError,
    timeoutMs: (timeoutMs ?? MAX_CALL_TIMEOUT_MS) + SAFETY_MARGIN_MS,
    maxTimeoutMs: MAX_CALL_TIMEOUT_MS + SAFETY_MARGIN_MS,
    progressed: onProgress && ((progress) => callListener('onProgress', onProgress, progress)),
  });
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    return await result;
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

function encodeCall(
  nonce: string,
  {
    remotename,
    functionName,
    args,
    timeoutMs,
  }: RemoteCallRequest & { readonly timeoutMs: number | undefined },
  maxMessageBytes: number,
  toError: (failure: Failure) => RemoteError,
): string {
  const body = { remotename, function: functionName, args, timeoutMs };
  let frame: string;
  try {
    frame = encodeJson({ action: 'remote-call', nonce, body }, 'args');
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw toError({ code: 'invalid-arguments', executed: 'no', message: cause.message, cause });
  }
  const problem = frameProblem(frame, maxMessageBytes);
  if (problem === undefined) return frame;
  const code = problem.code === 'too-large' ? 'message-too-large' : 'invalid-arguments';
  throw toError({ code, executed: 'no', message: `the call ${problem.text}` });
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
