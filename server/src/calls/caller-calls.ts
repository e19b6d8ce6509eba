import { canonicalKey, type KeyMeter } from '../json-schema/canonical.js';
import type { JsonText } from '../json/json-text.js';
import { LinkedList, type Place } from '../linked-list.js';
import { RemoteError } from '../remotes/remote-error.js';
import type { CallListener, TrackedCall } from './call-request.js';

/** The unanswered calls of one calling session, so that they can be cancelled, and end with it. */
export class CallerCalls implements Disposable {
  readonly #calls = new LinkedList<CallInFlight>();

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
  track(call: TrackedCall, nonce: JsonText | undefined, listener: CallListener): undefined {
    const tracked = new CallInFlight(call, nonce, listener);
    if (!call.isOver) tracked.place = this.#calls.add(tracked); // one that was refused never was in flight
    call.whenOver(tracked);
  }

  /** Cancels the calls that were sent with this nonce. @returns how many, once they have ended */
  async cancel(nonce: JsonText): Promise<number> {
    const key = nonceKey(nonce);
    const calls = this.#calls.values().filter((call) => call.isUnderWay(key));
    await Promise.all(calls.map(async (call) => call.cancel()));
    return calls.length;
  }

  [Symbol.dispose](): void {
    for (const { call } of this.#calls.values()) call.cancel('caller-gone');
  }
}

/** One call of a session, on the list of those in flight until it ends. */
class CallInFlight implements CallListener {
  place: Place<CallInFlight> | undefined;
  #onCancelled: (() => void) | undefined;
  #cancelling: Promise<void> | undefined;

  constructor(
    readonly call: TrackedCall,
    private readonly nonce: JsonText | undefined,
    private readonly listener: CallListener,
  ) {}

  /** Whether it was sent with the nonce of this key, and has not ended. */
  isUnderWay(key: string): boolean {
    return !this.call.isOver && this.nonce !== undefined && nonceKey(this.nonce) === key;
  }

  resolve(result: JsonText): void {
    this.place?.leave();
    this.listener.resolve(result);
    this.#onCancelled?.();
  }

  reject(error: RemoteError): void {
    this.place?.leave();
    this.listener.reject(error);
    this.#onCancelled?.();
  }

  /** Ends it early. @returns when it has ended: a call of another node when that node says how */
  cancel(): Promise<void> {
    this.#cancelling ??= new Promise<void>((resolve) => {
      this.#onCancelled = resolve;
      this.call.cancel('call-cancelled');
    });
    return this.#cancelling;
  }
}

/** A nonce is short, so what its key costs need not be counted. */
const unmetered: KeyMeter = { enter: () => undefined, leave: () => undefined };

/** One text for one JSON value, however it is written; the usual string is not parsed for it. */
function nonceKey(nonce: JsonText): string {
  const isPlain = /^"[^"\\]*"$/u.test(nonce.text);
  return canonicalKey(isPlain ? nonce.text.slice(1, -1) : nonce.parse(), unmetered);
}
