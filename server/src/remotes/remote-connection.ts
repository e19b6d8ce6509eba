import type { CancelReason } from '@remotes-hub/protocol';
import type { JsonText } from '../json/json-text.js';
import { LinkedList } from '../linked-list.js';
import type { TraceFields } from '../observability/trace-context.js';
import type { TraceSpan } from '../observability/tracing.js';
import type { Deadlines } from './deadlines.js';
import { PendingCall, type CallObserver } from './pending-calls.js';
import type { Provider } from './provider.js';
import { RemoteError } from './remote-error.js';
import type { ServedFunction } from './served-functions.js';

/** What a provider brings when it connects a remote. */
export interface RemoteDescription {
  readonly userId: string;
  readonly remotename: string;
  /** Stands for the instance that serves it: a later session of the same one may have the name at once. */
  readonly instanceKey?: string | undefined;
  /** The function specs, as the text that was connected. */
  readonly tools: JsonText;
  readonly functions: ReadonlyMap<string, ServedFunction>;
  /** How long calls in flight wait for a provider that was lost, in milliseconds. @default 0 */
  readonly resumeMs?: number;
}

/** Times and bounds of calls, in milliseconds and counts. */
export interface CallLimits {
  readonly callTimeoutMs: number;
  readonly maxCallTimeoutMs: number;
  /** Unanswered calls to one provider. */
  readonly maxCallsInFlight: number;
}

/** One call to forward. */
export interface OutgoingCall {
  readonly served: ServedFunction;
  readonly args: JsonText;
  readonly timeoutMs?: number | undefined;
  readonly onProgress?: ((progress: JsonText) => void) | undefined;
  /** What the provider is told of the trace that the call belongs to. */
  readonly trace: TraceFields;
  readonly span?: TraceSpan | undefined;
  readonly observer?: CallObserver | undefined;
}

/** One connected remote: its functions, its provider, and its calls in flight. Ends once, and them with it. */
export class RemoteConnection {
  readonly userId: string;
  readonly remotename: string;
  readonly tools: JsonText;
  readonly functions: ReadonlyMap<string, ServedFunction>;
  readonly toolsBytes: number;
  readonly #resumeMs: number;
  readonly #inFlight = new LinkedList<PendingCall>();
  #onDrained: (() => void) | undefined;
  #resumption: NodeJS.Timeout | undefined;

  constructor(
    description: RemoteDescription,
    readonly provider: Provider,
    private readonly limits: CallLimits,
    private readonly deadlines: Deadlines,
  ) {
    this.userId = description.userId;
    this.remotename = description.remotename;
    this.tools = description.tools;
    this.functions = description.functions;
    this.toolsBytes = Buffer.byteLength(description.tools.text);
    this.#resumeMs = description.resumeMs ?? 0;
  }

  /** Whether calls in flight would wait for a provider that was lost. */
  get isResumable(): boolean {
    return this.#resumeMs > 0 && this.#inFlight.size > 0;
  }

  /**
   * Forwards a call. It is on record before the provider sees it, so no answer can come too early.
   * @throws {RemoteError} `too-many-calls`
   */
  start(call: OutgoingCall): PendingCall {
    const { provider, limits, remotename } = this;
    if (provider.pending.size >= limits.maxCallsInFlight) {
      throw new RemoteError(
        'too-many-calls',
        `remote '${remotename}' has ${limits.maxCallsInFlight} unanswered calls`,
      );
    }
    const asked = call.timeoutMs ?? call.served.spec.timeoutMs ?? limits.callTimeoutMs;
    const timeoutMs = Math.min(asked, limits.maxCallTimeoutMs);
    const pending = new PendingCall({
      requestId: provider.nextRequestId(remotename),
      userId: this.userId,
      remotename,
      functionName: call.served.spec.name,
      span: call.span,
      observer: call.observer,
      timeoutMs,
      maxTimeoutMs: limits.maxCallTimeoutMs,
      deadlines: this.deadlines,
      inFlight: this.#inFlight,
      onProgress: call.onProgress,
      onEnd: this.#ended,
    });
    provider.pending.add(pending);
    this.#forward(pending, call, timeoutMs);
    return pending;
  }

  #forward(pending: PendingCall, call: OutgoingCall, timeoutMs: number): void {
    try {
      const { args, trace } = call;
      this.provider.forward({ pending, functionName: call.served.spec.name, args, timeoutMs, trace });
    } catch (cause) {
      const error = new RemoteError('remote-disconnected', `remote '${this.remotename}' disconnected`, {
        cause,
        executed: 'no',
      });
      pending.fail(error);
    }
  }

  readonly #ended = (pending: PendingCall, reason: CancelReason | undefined): void => {
    this.provider.pending.delete(pending);
    if (reason !== undefined) this.provider.withdraw(pending, reason);
    if (this.#inFlight.size === 0) this.#onDrained?.();
  };

  /** Fails the calls in flight, at once. `cause` tells their callers why, where that is known. */
  close(cause?: string): void {
    const message = `remote '${this.remotename}' disconnected before it answered`;
    this.#failAll('remote-disconnected', cause === undefined ? message : `${message}: ${cause}`);
  }

  /** Fails the calls in flight, at once, since the hub is shutting down. */
  shutDown(): void {
    this.#failAll('shutting-down', 'the hub is shutting down');
  }

  #failAll(code: 'remote-disconnected' | 'shutting-down', message: string): void {
    this.#onDrained = undefined;
    clearTimeout(this.#resumption);
    for (const pending of this.#inFlight.values()) {
      pending.fail(new RemoteError(code, message, { executed: 'unknown' }), code);
    }
  }

  /** Lets the calls in flight finish; `onDrained` is called when none is left. */
  drain(onDrained: () => void): void {
    if (this.#inFlight.size === 0) return onDrained();
    this.#onDrained = onDrained;
  }

  /**
   * The provider was lost: the calls in flight wait for it to come back, as long as the remote asked for, and fail
   * then. `onOver` is called at that time, even when no call is left: a provider that comes back sooner is told
   * of those that have ended.
   */
  suspend(onOver: () => void): void {
    this.#onDrained = undefined;
    this.#resumption = setTimeout(() => {
      this.close();
      onOver();
    }, this.#resumeMs);
  }

  /** The provider has come back and may answer; `onDrained` is called when no call is left. */
  resume(onDrained: () => void): void {
    clearTimeout(this.#resumption);
    this.drain(onDrained);
  }
}
