import { canonicalKey, type KeyMeter } from '../json-schema/canonical.js';
import type { JsonText } from '../json/json-text.js';
import { RemoteError } from '../remotes/remote-error.js';
import type { CallListener, TrackedCall } from './call-request.js';

/** The unanswered calls of one calling session, so that they can be cancelled, and end with it. */
export class CallerCalls implements Disposable {
  /** Each with the key of its nonce, if it had one. */
  readonly #calls = new Map<TrackedCall, string | undefined>();
  /** Told when calls that are being cancelled have ended. */
  readonly #cancelling = new Map<TrackedCall, () => void>();

  /** @param onRefused told of each call that there is no room for */
  constructor(
    private readonly maxCallsInFlight: number,
    private readonly onRefused: () => void,
  ) {}

  get size(): number {
    return this.#calls.size;
  }

  /** @throws {RemoteError} `too-many-calls` */
  requireRoom(): void {
    if (this.#calls.size < this.maxCallsInFlight) return;
    this.onRefused();
    throw new RemoteError(
      'too-many-calls',
      `this session has ${this.maxCallsInFlight} unanswered calls, the most it may`,
    );
  }

  /** Tells how the call ends; it is on the list until then. */
  track(call: TrackedCall, nonce: JsonText | undefined, { resolve, reject }: CallListener): void {
    if (!call.isOver) this.#calls.set(call, nonce && nonceKey(nonce)); // one that was refused never was in flight
    call.whenOver({
      resolve: (result) => {
        this.#calls.delete(call);
        resolve(result);
        this.#cancelling.get(call)?.();
      },
      reject: (error) => {
        this.#calls.delete(call);
        reject(error);
        this.#cancelling.get(call)?.();
      },
    });
  }

  /** Cancels the calls that were sent with this nonce. @returns how many, once they have ended */
  async cancel(nonce: JsonText): Promise<number> {
    const key = nonceKey(nonce);
    const calls = [...this.#calls].filter(([call, candidate]) => candidate === key && !call.isOver);
    await Promise.all(calls.map(async ([call]) => this.#cancel(call)));
    return calls.length;
  }

  /** A call of another node ends when that node says how. */
  async #cancel(call: TrackedCall): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#cancelling.set(call, resolve);
      call.cancel('call-cancelled');
    });
    this.#cancelling.delete(call);
  }

  [Symbol.dispose](): void {
    for (const call of [...this.#calls.keys()]) call.cancel('caller-gone');
  }
}

/** A nonce is short, so what its key costs need not be counted. */
const unmetered: KeyMeter = { enter: () => undefined, leave: () => undefined };

/** One text for one JSON value, however it is written; the usual string is not parsed for it. */
function nonceKey(nonce: JsonText): string {
  const isPlain = /^"[^"\\]*"$/u.test(nonce.text);
  return canonicalKey(isPlain ? nonce.text.slice(1, -1) : nonce.parse(), unmetered);
}
