import type { CallRequest, TrackedCall } from '../calls/call-request.js';
import type { WatchedCall } from '../calls/calls.js';
import { JsonText } from '../json/json-text.js';
import { GenerationalMap } from '../generational-map.js';
import { Deadlines } from '../remotes/deadlines.js';
import { RemoteError } from '../remotes/remote-error.js';
import type { Backplane, Loss, NameHolder } from './backplane.js';
import { errorHead, type NodeMessage } from './node-messages.js';
import { RelayedCall, type CallWays } from './relayed-call.js';
import { Routes } from './routes.js';
import { unavailable } from './unavailable.js';

const NULL = new JsonText('null');

/** Bounds of calls to other nodes, in milliseconds. */
export interface RelayLimits {
  readonly callTimeoutMs: number;
  readonly maxCallTimeoutMs: number;
}

/** The calls of this node to remotes of other nodes. Each goes straight to the node that serves it. */
export class CallRelay implements CallWays {
  readonly deadlines = new Deadlines();
  readonly callTimeoutMs: number;
  readonly maxCallTimeoutMs: number;
  readonly #calls = new GenerationalMap<number, RelayedCall>();
  readonly #routes = new Routes();
  #next = 0;

  constructor(
    private readonly backplane: Pick<Backplane, 'find' | 'send' | 'isReady'>,
    { callTimeoutMs, maxCallTimeoutMs }: RelayLimits,
  ) {
    this.callTimeoutMs = callTimeoutMs;
    this.maxCallTimeoutMs = maxCallTimeoutMs;
  }

  /** Calls that have not ended. */
  get size(): number {
    return this.#calls.size;
  }

  /** Starts a call of a remote that this node does not have. Never throws. */
  start(request: CallRequest, watched: WatchedCall): TrackedCall {
    const call = new RelayedCall(this.#next++, request, watched, this);
    this.#calls.set(call.n, call);
    call.start();
    return call;
  }

  /** Takes a message about a call, if it is one. */
  receive({ head, body }: NodeMessage, from: string): boolean {
    const [kind, n, requestId] = head;
    if (kind !== 'result' && kind !== 'error' && kind !== 'progress' && kind !== 'moved') return false;
    const call = typeof n === 'number' ? this.#calls.get(n) : undefined;
    if (call === undefined || call.nodeId !== from) return true; // it has ended here already
    if (kind === 'result') call.answered(body ?? NULL, requestId);
    else if (kind === 'error') call.failedThere(readError(head));
    else if (kind === 'progress') call.progress(body ?? NULL);
    else call.moved();
    return true;
  }

  /** Takes a message that did not get there, if it was about a call. */
  lost({ head }: NodeMessage, nodeId: string, loss: Loss): boolean {
    const [kind, n] = head;
    if (kind !== 'call' && kind !== 'cancel') return false;
    const call = typeof n === 'number' ? this.#calls.get(n) : undefined;
    if (call?.nodeId !== nodeId) return true; // it has ended, or has gone another way
    if (kind === 'call') call.lost(loss);
    else call.overdue();
    return true;
  }

  /** Nothing that this node was sent will be answered. */
  nodeGone(nodeId: string): void {
    this.#routes.forgetNode(nodeId);
    for (const call of this.#calls.values()) if (call.nodeId === nodeId) call.nodeGone();
  }

  /** Nothing will be answered. */
  cutOff(): void {
    this.#routes.clear();
    for (const call of this.#calls.values()) {
      call.fail(unavailable(undefined, call.nodeId === undefined ? 'no' : 'unknown'));
    }
  }

  /** Ends every call, at shutdown. */
  close(): void {
    for (const call of this.#calls.values()) call.shutDown();
    this.deadlines[Symbol.dispose]();
  }

  /** @see CallWays */
  find(
    { userId, remotename }: CallRequest,
    knownWrong: NameHolder | undefined,
  ): NameHolder | undefined | Promise<NameHolder | undefined> {
    if (knownWrong === undefined) {
      const known = this.#routes.find(userId, remotename);
      if (known !== undefined) return this.#usable(known);
    } else this.#routes.forget(userId, remotename);
    const found = this.backplane.find(userId, remotename);
    return found instanceof Promise ? found.then((holder) => this.#keep(userId, holder)) : found;
  }

  send(nodeId: string, message: NodeMessage): void {
    this.backplane.send(nodeId, message, true);
  }

  ended(call: RelayedCall): void {
    this.#calls.delete(call.n);
  }

  #usable(holder: NameHolder): NameHolder {
    if (!this.backplane.isReady) throw unavailable();
    return holder;
  }

  #keep(userId: string, holder: NameHolder | undefined): NameHolder | undefined {
    if (holder !== undefined) this.#routes.keep(userId, holder);
    return holder;
  }
}

function readError(head: readonly unknown[]): RemoteError {
  const read = errorHead.safeParse(head);
  if (!read.success) return unavailable(read.error, 'unknown');
  const [, , code, message, executed, requestId, retryAfterMs] = read.data;
  const error = new RemoteError(code, message, {
    executed,
    ...(retryAfterMs !== null && { retryAfterMs }),
  });
  error.requestId = requestId ?? undefined;
  return error;
}
