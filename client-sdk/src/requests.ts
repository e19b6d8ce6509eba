import type { JsonObject } from '@remotes-hub/protocol';
import { REMOTE_CALL_TIMEOUT_MS } from '@remotes-hub/protocol/limits';
import type { PendingRequests } from './calls.js';
import type { Connection } from './connection.js';
import { HubError, closedConnection } from './errors.js';
import { encodeJson, frameProblem } from './json-values.js';

/** How long a request other than a call waits for its reply: the hub answers most at once, none later than this. */
export const REQUEST_TIMEOUT_MS = REMOTE_CALL_TIMEOUT_MS + 5_000;

/** Sends the requests that are no calls. */
export class Requests {
  constructor(
    private readonly connection: Connection,
    private readonly pending: PendingRequests,
  ) {}

  /**
   * Sends a request and waits for its reply. `read` makes the result of it, before the next message is looked at;
   * `undefined` says that it could not.
   * @throws {HubError} refused, too large, lost or unanswered
   * @throws {TypeError | RangeError} the body holds what JSON cannot
   */
  async send<Result>(
    action: string,
    body: object | undefined,
    read: (reply: JsonObject) => Result | undefined,
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<Result> {
    const nonce = this.pending.newNonce();
    const frame = encodeJson({ action, nonce, body }, 'the message');
    const problem = frameProblem(frame, this.connection.maxMessageBytes);
    if (problem !== undefined) {
      throw new HubError({ code: 'message-too-large', message: `the message ${problem.text}` });
    }
    if (!this.connection.isOpen) throw new HubError(closedConnection(this.connection.ending));
    const reply = this.pending.expect(nonce, {
      what: action,
      read,
      toError: (failure) => new HubError(failure),
      timeoutMs,
      maxTimeoutMs: timeoutMs,
    });
    this.connection.send(frame);
    return reply;
  }
}
