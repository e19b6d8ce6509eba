import type { JsonObject } from '@remotes-hub/protocol';
import { REMOTE_CALL_TIMEOUT_MS } from '@remotes-hub/protocol/limits';
import type { PendingRequests } from './calls.js';
import { HubError, closedConnection } from './errors.js';
import { encodeJson, frameProblem } from './json-values.js';
import type { Line } from './line.js';

/** How long a request other than a call waits for its reply: the hub answers most at once, none later than this. */
const REQUEST_TIMEOUT_MS = REMOTE_CALL_TIMEOUT_MS + 5_000;

/** A request that is no call. */
export interface Request<Result> {
  readonly action: string;
  readonly body?: object | undefined;
  /** Makes the result of the reply, before the next message is looked at; `undefined` says that it could not. */
  readonly read: (reply: JsonObject) => Result | undefined;
}

/**
 * Sends a request now and waits for its reply.
 * @throws {HubError} refused, too large, lost or unanswered
 * @throws {TypeError | RangeError} the body holds what JSON cannot
 */
export async function sendRequest<Result>(
  line: Pick<Line, 'send' | 'ending' | 'maxMessageBytes'>,
  pending: PendingRequests,
  { action, body, read }: Request<Result>,
): Promise<Result> {
  const nonce = pending.newNonce();
  const { text: frame, isShallow } = encodeJson({ action, nonce, body }, 'the message');
  const problem = frameProblem(frame, line.maxMessageBytes, isShallow);
  if (problem !== undefined) {
    throw new HubError({ code: 'message-too-large', message: `the message ${problem.text}` });
  }
  if (!line.send(frame)) throw new HubError(closedConnection(line.ending));
  return pending.expect(nonce, {
    what: action,
    read,
    toError: (failure) => new HubError(failure),
    timeoutMs: REQUEST_TIMEOUT_MS,
    maxTimeoutMs: REQUEST_TIMEOUT_MS,
  });
}

/** Sends the requests that are no calls; those made without a connection wait for the next one. */
export class Requests {
  constructor(
    private readonly line: Line,
    private readonly pending: PendingRequests,
  ) {}

  /**
   * Sends a request as soon as there is a connection, and waits for its reply.
   * @throws {HubError} refused, too large, lost or unanswered
   * @throws {TypeError | RangeError} the body holds what JSON cannot
   */
  async send<Result>(
    action: string,
    body: object | undefined,
    read: (reply: JsonObject) => Result | undefined,
  ): Promise<Result> {
    if (!this.line.isOpen) await this.line.whenOpen(REQUEST_TIMEOUT_MS);
    return sendRequest(this.line, this.pending, { action, body, read });
  }
}
