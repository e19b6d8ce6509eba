import type { CancelReason } from '@remotes-hub/protocol';
import type { JsonText } from '../json/json-text.js';
import type { Deadlines, Overdue } from './deadlines.js';
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

/** Told how a call ended, once. */
export interface CallListener {
  readonly resolve: (result: JsonText) => void;
  readonly reject: (error: RemoteError) => void;
}

/** A call on its way that tells its end without the detour of a promise. */
export interface TrackedCall extends StartedCall {
  readonly isOver: boolean;
  /** Tells a result in the moment it comes, a failure after the work at hand. One listener alone, or `result`. */
  whenOver(listener: CallListener): void;
}

/** What one call needs to wait. */
export interface PendingCallOptions {
  readonly requestId: string;
  readonly remotename: string;
  /** Time for an answer, in milliseconds; progress starts it anew. */
  readonly timeoutMs: number;
  /** Time for the whole call, progress included, in milliseconds. */
  readonly maxTimeoutMs: number;
  readonly deadlines: Deadlines;
  readonly onProgress?: ((progress: JsonText) => void) | undefined;
  /** Called once, at the end. `reason` is given when the provider has not answered and should stop. */
  readonly onEnd: (call: PendingCall, reason: CancelReason | undefined) => void;
}

/**
 * One call forwarded to a provider and not answered yet. It ends exactly once: by its answer, its deadline, its
 * caller, the end of its remote or of the hub; whatever comes later is ignored.
 */
export class PendingCall implements TrackedCall, Overdue {
  readonly requestId: string;
  readonly #options: PendingCallOptions;
  readonly #hardDeadline: number;
  dueAt: number;
  #listener: CallListener | undefined;
  #outcome: JsonText | RemoteError | undefined;
  #result: Promise<JsonText> | undefined;

  constructor(options: PendingCallOptions) {
    this.#options = options;
    this.requestId = options.requestId;
    const now = performance.now();
    this.#hardDeadline = now + options.maxTimeoutMs;
    this.dueAt = now + options.timeoutMs;
    options.deadlines.add(this);
  }

  get isOver(): boolean {
    return this.#outcome !== undefined;
  }

  get result(): Promise<JsonText> {
    this.#result ??= new Promise((resolve, reject) => this.whenOver({ resolve, reject }));
    return this.#result;
  }

  whenOver(listener: CallListener): void {
    this.#listener = listener;
    if (this.#outcome !== undefined) this.#tell(listener, this.#outcome);
  }

  /** The provider's answer. */
  resolve(result: JsonText): void {
    this.#end(result, undefined);
  }

  /** The provider's failure, or the end of the remote. `reason` tells a provider that may still be at work. */
  fail(error: RemoteError, reason?: CancelReason): void {
    error.requestId ??= this.requestId;
    this.#end(error, reason);
  }

  cancel(reason: CallerReason): void {
    const message = reason === 'caller-gone' ? 'the caller is gone' : 'the call was cancelled';
    this.fail(new RemoteError('call-cancelled', message), reason);
  }

  /** The provider is at work: the deadline starts anew, never past the hard one. */
  progress(progress: JsonText): void {
    if (this.isOver) return;
    const { timeoutMs, deadlines, onProgress } = this.#options;
    deadlines.delete(this);
    this.dueAt = Math.min(performance.now() + timeoutMs, this.#hardDeadline);
    deadlines.add(this);
    onProgress?.(progress);
  }

  overdue(): void {
    const { remotename, timeoutMs, maxTimeoutMs } = this.#options;
    const waitedMs = this.dueAt === this.#hardDeadline ? maxTimeoutMs : timeoutMs;
    const message = `remote '${remotename}' did not answer within ${waitedMs} ms`;
    this.fail(new RemoteError('call-timeout', message), 'call-timeout');
  }

  #end(outcome: JsonText | RemoteError, reason: CancelReason | undefined): void {
    if (this.isOver) return;
    this.#outcome = outcome;
    this.#options.deadlines.delete(this);
    this.#options.onEnd(this, reason);
    if (this.#listener !== undefined) this.#tell(this.#listener, outcome);
  }

  #tell(listener: CallListener, outcome: JsonText | RemoteError): void {
    if (outcome instanceof RemoteError) queueMicrotask(() => listener.reject(outcome));
    else listener.resolve(outcome);
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
