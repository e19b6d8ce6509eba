import type { CancelReason } from '@remotes-hub/protocol';
import type { JsonText } from '../json/json-text.js';
import type { LinkedList, Place } from '../linked-list.js';
import { GenerationalMap } from '../generational-map.js';
import type { TraceSpan } from '../observability/tracing.js';
import { CallEnd, type CallListener } from './call-end.js';
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

/** A call on its way that tells its end without the detour of a promise. */
export interface TrackedCall extends StartedCall {
  readonly isOver: boolean;
  /** The id that its provider knows it by, once it was forwarded. */
  readonly requestId?: string | undefined;
  /** Tells a result in the moment it comes, a failure after the work at hand. One listener alone, or `result`. */
  whenOver(listener: CallListener): void;
}

/** A call that has ended, as those see it who watch calls. */
export interface EndedCall {
  readonly userId: string;
  readonly remotename: string;
  readonly functionName: string;
  /** Unknown of a call that was not forwarded, or that another node has answered. */
  readonly requestId: string | undefined;
  /** In milliseconds of {@link performance.now}; `undefined` when it was never forwarded. */
  readonly startedAt: number | undefined;
  readonly span: TraceSpan | undefined;
}

/** Told how each call ended, before its caller is. */
export interface CallObserver {
  callEnded(call: EndedCall, outcome: JsonText | RemoteError): void;
}

/** What one call needs to wait. */
export interface PendingCallOptions {
  readonly requestId: string;
  readonly userId: string;
  readonly remotename: string;
  readonly functionName: string;
  /** Where somebody traces. */
  readonly span?: TraceSpan | undefined;
  readonly observer?: CallObserver | undefined;
  /** Time for an answer, in milliseconds; progress starts it anew. */
  readonly timeoutMs: number;
  /** Time for the whole call, progress included, in milliseconds. */
  readonly maxTimeoutMs: number;
  readonly deadlines: Deadlines;
  /** The calls in flight of its remote, which it is among until its end. */
  readonly inFlight: LinkedList<PendingCall>;
  readonly onProgress?: ((progress: JsonText) => void) | undefined;
  /** Called once, at the end. `reason` is given when the provider has not answered and should stop. */
  readonly onEnd: (call: PendingCall, reason: CancelReason | undefined) => void;
}

/**
 * One call forwarded to a provider and not answered yet. It ends exactly once: by its answer, its deadline, its
 * caller, the end of its remote or of the hub; whatever comes later is ignored. It keeps nothing of its caller then.
 */
export class PendingCall implements TrackedCall, Overdue, EndedCall {
  readonly requestId: string;
  readonly userId: string;
  readonly remotename: string;
  readonly functionName: string;
  readonly span: TraceSpan | undefined;
  /** In milliseconds of {@link performance.now}. */
  readonly startedAt: number;
  dueAt: number;
  readonly #timeoutMs: number;
  readonly #maxTimeoutMs: number;
  readonly #deadlines: Deadlines;
  readonly #observer: CallObserver | undefined;
  readonly #onEnd: PendingCallOptions['onEnd'];
  readonly #end = new CallEnd();
  readonly #inFlight: Place<PendingCall>;
  #deadline: Place<Overdue>;
  #onProgress: PendingCallOptions['onProgress'];

  constructor(options: PendingCallOptions) {
    this.requestId = options.requestId;
    this.userId = options.userId;
    this.remotename = options.remotename;
    this.functionName = options.functionName;
    this.span = options.span;
    this.#timeoutMs = options.timeoutMs;
    this.#maxTimeoutMs = options.maxTimeoutMs;
    this.#deadlines = options.deadlines;
    this.#observer = options.observer;
    this.#onProgress = options.onProgress;
    this.#onEnd = options.onEnd;
    this.startedAt = performance.now();
    this.dueAt = this.startedAt + options.timeoutMs;
    this.#deadline = options.deadlines.add(this);
    this.#inFlight = options.inFlight.add(this);
  }

  get isOver(): boolean {
    return this.#end.isOver;
  }

  get result(): Promise<JsonText> {
    return this.#end.result;
  }

  whenOver(listener: CallListener): void {
    this.#end.whenOver(listener);
  }

  /** The provider's answer. */
  resolve(result: JsonText): void {
    this.#finish(result, undefined);
  }

  /** The provider's failure, or the end of the remote. `reason` tells a provider that may still be at work. */
  fail(error: RemoteError, reason?: CancelReason): void {
    error.requestId ??= this.requestId;
    this.#finish(error, reason);
  }

  cancel(reason: CallerReason): void {
    this.fail(cancelled(reason), reason);
  }

  /** The provider is at work: the deadline starts anew, never past the hard one. */
  progress(progress: JsonText): void {
    if (this.isOver) return;
    this.#deadline.leave();
    this.dueAt = Math.min(performance.now() + this.#timeoutMs, this.#hardDeadline);
    this.#deadline = this.#deadlines.add(this);
    this.#onProgress?.(progress);
  }

  overdue(): void {
    const waitedMs = this.dueAt === this.#hardDeadline ? this.#maxTimeoutMs : this.#timeoutMs;
    const message = `remote '${this.remotename}' did not answer within ${waitedMs} ms`;
    this.fail(new RemoteError('call-timeout', message), 'call-timeout');
  }

  get #hardDeadline(): number {
    return this.startedAt + this.#maxTimeoutMs;
  }

  #finish(outcome: JsonText | RemoteError, reason: CancelReason | undefined): void {
    if (!this.#end.end(outcome)) return;
    this.#onProgress = undefined;
    this.#deadline.leave();
    this.#inFlight.leave();
    this.#onEnd(this, reason);
    this.#observer?.callEnded(this, outcome);
    this.#end.tell();
  }
}

/** How a call ends whose caller does not want it any more. */
export function cancelled(reason: CallerReason): RemoteError {
  return new RemoteError(
    'call-cancelled',
    reason === 'caller-gone' ? 'the caller is gone' : 'the call was cancelled',
  );
}

/**
 * The calls that one provider has not answered, by their request ids. Ids are looked up whole, so a remote's
 * name may hold `#`, and only here, so no other session can answer.
 */
export class PendingCalls {
  readonly #calls = new GenerationalMap<string, PendingCall>();

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
