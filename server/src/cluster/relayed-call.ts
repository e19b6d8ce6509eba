import type { Executed } from '@remotes-hub/protocol';
import type { CallListener, CallRequest, CallerReason, TrackedCall } from '../calls/call-request.js';
import type { WatchedCall } from '../calls/calls.js';
import type { JsonText } from '../json/json-text.js';
import type { Place } from '../linked-list.js';
import type { TraceSpan } from '../observability/tracing.js';
import { CallEnd } from '../remotes/call-end.js';
import type { Deadlines, Overdue } from '../remotes/deadlines.js';
import { cancelled, type EndedCall } from '../remotes/pending-calls.js';
import { RemoteError } from '../remotes/remote-error.js';
import { notConnected } from '../remotes/remote-registry.js';
import type { Loss, NameHolder } from './backplane.js';
import type { NodeMessage } from './node-messages.js';
import { unavailable } from './unavailable.js';

/** The node that serves ends a call at its deadline; this much later, in milliseconds, nobody waits for it to say so. */
const GRACE_MS = 500;
/** Routes that are followed for one call. */
const MAX_ROUTES_TRIED = 3;

/** What a call needs to get to another node. */
export interface CallWays {
  /** Where the remote is; `knownWrong` was the answer before. */
  find(
    request: CallRequest,
    knownWrong: NameHolder | undefined,
  ): NameHolder | undefined | Promise<NameHolder | undefined>;
  /** Tells {@link RelayedCall.lost} when it does not get there. */
  send(nodeId: string, message: NodeMessage): void;
  /** The call is over. */
  ended(call: RelayedCall): void;
  readonly deadlines: Deadlines;
  readonly callTimeoutMs: number;
  readonly maxCallTimeoutMs: number;
}

/**
 * A call of this node to a remote of another one, which validates, dispatches and times it as its own. It ends with what
 * that node says; or here, when that node is gone, nothing can be heard of it, or it has forgotten the call.
 */
export class RelayedCall implements TrackedCall, Overdue, EndedCall {
  readonly #end = new CallEnd();
  readonly #startedAt = performance.now();
  #holder: NameHolder | undefined;
  #isSent = false;
  #deadline: Place<Overdue> | undefined;
  #cancelReason: CallerReason | undefined;
  #routesTried = 0;
  /** Redis says that nobody listens there. */
  #deadNodeId: string | undefined;
  /** Known of a call that its node forwarded and that failed. */
  requestId: string | undefined;
  dueAt = Infinity;

  /** @param n its number among those of this node */
  constructor(
    readonly n: number,
    private readonly request: CallRequest,
    private readonly watched: WatchedCall,
    private readonly ways: CallWays,
  ) {}

  get userId(): string {
    return this.request.userId;
  }

  get remotename(): string {
    return this.request.remotename;
  }

  get functionName(): string {
    return this.request.functionName;
  }

  /** Set when it has been sent to the node that serves. */
  get startedAt(): number | undefined {
    return this.#isSent ? this.#startedAt : undefined;
  }

  get span(): TraceSpan | undefined {
    return this.watched.span;
  }

  /** The node that has it. */
  get nodeId(): string | undefined {
    return this.#holder?.nodeId;
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

  /** Finds the remote, and sends the call there. */
  start(): void {
    this.#routesTried += 1;
    try {
      const holder = this.ways.find(this.request, this.#holder);
      if (!(holder instanceof Promise)) return this.#follow(holder);
      holder.then(
        (found) => this.#follow(found),
        (error: unknown) => this.fail(error instanceof RemoteError ? error : unavailable(error)),
      );
    } catch (error) {
      this.fail(error instanceof RemoteError ? error : unavailable(error));
    }
  }

  cancel(reason: CallerReason): void {
    if (this.isOver || this.#cancelReason !== undefined) return;
    this.#cancelReason = reason;
    if (!this.#isSent || this.#holder === undefined) return this.fail(cancelled(reason));
    this.ways.send(this.#holder.nodeId, { head: ['cancel', this.n, reason] });
    this.#waitUntil(performance.now() + GRACE_MS); // its node says how it ended
  }

  /** @param requestId as its node says it; an older one says none */
  answered(result: JsonText, requestId: unknown): void {
    if (typeof requestId === 'string') this.requestId = requestId;
    this.#finish(result);
  }

  /** Its node says how it failed: without an id, before it was forwarded. */
  failedThere(error: RemoteError): void {
    if (error.requestId === undefined && error.executed === 'no') this.#isSent = false;
    this.#finish(error);
  }

  fail(error: RemoteError): void {
    this.#finish(error);
  }

  progress(progress: JsonText): void {
    if (this.isOver) return;
    if (this.#cancelReason === undefined) this.#waitUntil(performance.now() + this.#timeoutMs + GRACE_MS);
    this.request.onProgress?.(progress);
  }

  /** The remote is not where it was looked for: nothing was done. */
  moved(): void {
    if (this.isOver) return;
    this.#isSent = false;
    if (this.#cancelReason !== undefined) this.fail(cancelled(this.#cancelReason));
    else if (this.#routesTried < MAX_ROUTES_TRIED) this.start();
    else this.fail(notConnected(this.request.remotename));
  }

  /** The node that has the call is gone, or has forgotten it. One that it does not have yet looks for another way. */
  nodeGone(): void {
    if (this.#isSent) this.#failDisconnected('unknown');
  }

  /** This node is shutting down, and the other one need not go on. */
  shutDown(): void {
    if (this.#isSent && this.#holder !== undefined) {
      this.ways.send(this.#holder.nodeId, { head: ['cancel', this.n, 'caller-gone'] });
    }
    const executed = this.#isSent ? 'unknown' : 'no';
    this.fail(new RemoteError('shutting-down', 'the hub is shutting down', { executed }));
  }

  overdue(): void {
    const { remotename } = this.request;
    if (this.#cancelReason !== undefined) this.fail(cancelled(this.#cancelReason));
    else {
      const message = `remote '${remotename}' did not answer within ${this.#timeoutMs} ms`;
      this.fail(new RemoteError('call-timeout', message));
    }
  }

  get #timeoutMs(): number {
    const { callTimeoutMs, maxCallTimeoutMs } = this.ways;
    const { functionName, timeoutMs } = this.request;
    const asked = timeoutMs ?? this.#holder?.timeouts.get(functionName) ?? callTimeoutMs;
    return Math.min(asked, maxCallTimeoutMs);
  }

  #follow(holder: NameHolder | undefined): void {
    const { remotename, userId, functionName, timeoutMs, onProgress, args } = this.request;
    if (this.isOver) return;
    if (holder === undefined) return this.fail(notConnected(remotename));
    if (holder.nodeId === this.#deadNodeId) return this.#failDisconnected('no');
    this.#holder = holder;
    this.#isSent = true;
    const wantsProgress = onProgress !== undefined;
    const { traceparent = null, tracestate = null } = this.watched.span ?? this.request;
    const trace = traceparent === null ? [] : [traceparent, tracestate];
    const call = ['call', this.n, userId, remotename, functionName, timeoutMs ?? 0, wantsProgress];
    const head = [...call, ...trace];
    this.#waitUntil(performance.now() + this.#timeoutMs + GRACE_MS);
    this.ways.send(holder.nodeId, { head, body: args });
  }

  /** It did not get to the node that serves. */
  lost(loss: Loss): void {
    if (loss === 'unavailable') return this.fail(unavailable(undefined, 'unknown'));
    this.#deadNodeId = this.nodeId;
    this.moved();
  }

  #failDisconnected(executed: Executed): void {
    const message = `remote '${this.request.remotename}' disconnected before it answered: its node is gone`;
    this.fail(new RemoteError('remote-disconnected', message, { executed }));
  }

  /** @param time for progress, never past the longest time of a call */
  #waitUntil(time: number): void {
    const { deadlines, maxCallTimeoutMs } = this.ways;
    this.#deadline?.leave();
    this.dueAt = Math.min(time, this.#startedAt + maxCallTimeoutMs + GRACE_MS);
    this.#deadline = deadlines.add(this);
  }

  #tellObserver(outcome: JsonText | RemoteError): void {
    if (outcome instanceof RemoteError) this.requestId = outcome.requestId;
    this.watched.observer?.callEnded(this, outcome);
  }

  #finish(outcome: JsonText | RemoteError): void {
    if (!this.#end.end(outcome)) return;
    this.#deadline?.leave();
    this.ways.ended(this);
    this.#tellObserver(outcome);
    this.#end.tell();
  }
}
