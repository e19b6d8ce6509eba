import type { CancelReason } from '@remotes-hub/protocol';
import type { JsonText } from '../json/json-text.js';
import { RemoteError } from './remote-error.js';

/** Why a caller ends its own call. */
export type CallerReason = 'call-cancelled' | 'caller-gone';

/** A call on its way. */
export interface StartedCall {
  /** The result's JSON text. Rejects with a `RemoteError` and with nothing else. */
  readonly result: Promise<JsonText>;
  /** Ends the call early; harmless when it has ended. */
  cancel(reason: CallerReason): void;
}

/** A call on its way that tells whether it has ended, which its `result` says a moment later. */
export interface TrackedCall extends StartedCall {
  readonly isOver: boolean;
}

/** What one call needs to wait. */
export interface PendingCallOptions {
  readonly requestId: string;
  readonly remotename: string;
  /** Time for an answer, in milliseconds; progress starts it anew. */
  readonly timeoutMs: number;
  /** Time for the whole call, progress included, in milliseconds. */
  readonly maxTimeoutMs: number;
  readonly onProgress?: ((progress: JsonText) => void) | undefined;
  /** Called once, at the end. `reason` is given when the provider has not answered and should stop. */
  readonly onEnd: (call: PendingCall, reason: CancelReason | undefined) => void;
}

interface Settle {
  readonly resolve: (result: JsonText) => void;
  readonly reject: (error: RemoteError) => void;
}

/**
 * One call forwarded to a provider and not answered yet. It ends exactly once: by its answer, its deadline, its
 * caller, the end of its remote or of the hub; whatever comes later is ignored.
 */
export class PendingCall implements TrackedCall {
  readonly result: Promise<JsonText>;
  readonly requestId: string;
  readonly #options: PendingCallOptions;
  readonly #hardDeadline: number;
  #timer: NodeJS.Timeout;
  #settle: Settle | undefined;

  constructor(options: PendingCallOptions) {
    this.#options = options;
    this.requestId = options.requestId;
    this.#hardDeadline = Date.now() + options.maxTimeoutMs;
    this.#timer = setTimeout(() => this.#timeOut(options.timeoutMs), options.timeoutMs);
    this.result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  get isOver(): boolean {
    return this.#settle === undefined;
  }

  /** The provider's answer. */
  resolve(result: JsonText): void {
    this.#end(undefined)?.resolve(result);
  }

  /** The provider's failure, or the end of the remote. `reason` tells a provider that may still be at work. */
  fail(error: RemoteError, reason?: CancelReason): void {
    error.requestId ??= this.requestId;
    this.#end(reason)?.reject(error);
  }

  cancel(reason: CallerReason): void {
    const message = reason === 'caller-gone' ? 'the caller is gone' : 'the call was cancelled';
    this.fail(new RemoteError('call-cancelled', message), reason);
  }

  /** The provider is at work: the deadline starts anew, never past the hard one. */
  progress(progress: JsonText): void {
    if (this.#settle === undefined) return;
    const { timeoutMs, maxTimeoutMs } = this.#options;
    const leftMs = Math.max(0, this.#hardDeadline - Date.now());
    clearTimeout(this.#timer);
    this.#timer =
      leftMs < timeoutMs
        ? setTimeout(() => this.#timeOut(maxTimeoutMs), leftMs)
        : setTimeout(() => this.#timeOut(timeoutMs), timeoutMs);
    this.#options.onProgress?.(progress);
  }

  #timeOut(timeoutMs: number): void {
    const message = `remote '${this.#options.remotename}' did not answer within ${timeoutMs} ms`;
    this.fail(new RemoteError('call-timeout', message), 'call-timeout');
  }

  #end(reason: CancelReason | undefined): Settle | undefined {
    const settle = this.#settle;
    if (settle === undefined) return undefined;
    this.#settle = undefined;
    clearTimeout(this.#timer);
    this.#options.onEnd(this, reason);
    return settle;
  }
}

/**
 * The calls that one provider has not answered, by their request ids. Ids are looked up whole, so a remote's
 * name may hold `#`, and only here, so no other session can answer.
 */
export class PendingCalls {
  readonly #calls = new Map<string, PendingCall>();

  get size(): number {
    return this.#calls.size;
  }

  add(call: PendingCall): void {
    this.#calls.set(call.requestId, call);
  }

  delete(call: PendingCall): void {
    this.#calls.delete(call.requestId);
  }

  find(requestId: string): PendingCall | undefined {
    return this.#calls.get(requestId);
  }
}
