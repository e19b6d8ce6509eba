import type { JsonObject, JsonValue } from '@remotes-hub/protocol';
import { readFailure, type Failure } from './errors.js';

/** What a request expects. */
export interface Expectation<Result> {
  /** What was asked, for errors: "remote-list", "weather.get_forecast". */
  readonly what: string;
  /**
   * Makes the result of a reply that is no error; `undefined` when the reply cannot be understood. Runs before
   * the next message is looked at.
   */
  readonly read: (reply: JsonObject) => Result | undefined;
  /** Makes the error of a request that failed. */
  readonly toError: (failure: Failure) => Error;
  /** How long to wait for the reply, in milliseconds. Progress starts it anew. */
  readonly timeoutMs: number;
  /** The longest wait with progress, in milliseconds. */
  readonly maxTimeoutMs: number;
  readonly progressed?: ((progress: JsonValue) => void) | undefined;
}

/** Requests without a reply yet, by nonce. Each ends exactly once: reply, deadline, or {@link fail}. */
export class PendingRequests {
  #requests = new Map<string, Pending>();
  #count = 0;

  /** A nonce never used before on this connection. */
  newNonce(): string {
    this.#count += 1;
    // V8 would keep all that goes through one map, from one full collection to the next
    if (this.#count % 1_024 < 1 && this.#requests.size < 1_024) this.#requests = new Map(this.#requests);
    return `n${this.#count}`;
  }

  /** Waits for the reply with this nonce. */
  expect<Result>(nonce: string, expectation: Expectation<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const expired = (): unknown => this.fail(nonce, unanswered(expectation));
      this.#requests.set(nonce, new PendingRequest(expectation, resolve, reject, expired));
    });
  }

  /** Takes a reply. One without a nonce, or with one that nobody waits for, is ignored. */
  reply(message: JsonObject): void {
    const request = this.#take(message['nonce']);
    if (request === undefined) return;
    const failure = readFailure(message);
    if (failure === undefined) request.settle(message);
    else request.fail(failure);
  }

  /** Takes a `remote-call-progress` of the hub. */
  progress(message: JsonObject): void {
    const { nonce, progress = null } = message;
    if (typeof nonce === 'string') this.#requests.get(nonce)?.progressed(progress);
  }

  /** Ends one request; `false` when it had ended before. */
  fail(nonce: string, failure: Failure): boolean {
    const request = this.#take(nonce);
    request?.fail(failure);
    return request !== undefined;
  }

  /** Ends them all. */
  failAll(failure: Failure): void {
    for (const nonce of this.#requests.keys()) this.fail(nonce, failure);
  }

  #take(nonce: JsonValue | undefined): Pending | undefined {
    if (typeof nonce !== 'string') return undefined;
    const request = this.#requests.get(nonce);
    this.#requests.delete(nonce);
    return request;
  }
}

/** A request, whatever its result is. */
type Pending = Pick<PendingRequest<unknown>, 'settle' | 'fail' | 'progressed'>;

/** One request that waits for its reply. */
class PendingRequest<Result> {
  readonly #latest: number;
  #timer: ReturnType<typeof setTimeout>;

  /** @param expired told when the time is over */
  constructor(
    private readonly expectation: Expectation<Result>,
    private readonly resolve: (result: Result) => void,
    private readonly reject: (error: Error) => void,
    private readonly expired: () => unknown,
  ) {
    this.#latest = performance.now() + expectation.maxTimeoutMs;
    this.#timer = setTimeout(expired, expectation.timeoutMs);
  }

  settle(reply: JsonObject): void {
    const result = this.expectation.read(reply);
    if (result === undefined) return this.fail(unreadable(this.expectation));
    clearTimeout(this.#timer);
    this.resolve(result);
  }

  fail(failure: Failure): void {
    clearTimeout(this.#timer);
    this.reject(this.expectation.toError(failure));
  }

  progressed(progress: JsonValue): void {
    const leftMs = Math.max(0, this.#latest - performance.now());
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.expired, Math.min(this.expectation.timeoutMs, leftMs));
    this.expectation.progressed?.(progress);
  }
}

function unanswered({ what, timeoutMs }: Expectation<unknown>): Failure {
  return { code: 'call-timeout', message: `the hub did not answer '${what}' within ${timeoutMs} ms` };
}

function unreadable({ what }: Expectation<unknown>): Failure {
  return { code: 'internal-error', message: `the hub's reply to '${what}' could not be understood` };
}
