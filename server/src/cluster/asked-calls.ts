import { traceparentSchema, tracestateSchema } from '@remotes-hub/protocol';
import type { CallRequest, TrackedCall } from '../calls/call-request.js';
import { JsonText } from '../json/json-text.js';
import { GenerationalMap } from '../generational-map.js';
import type { RemoteError } from '../remotes/remote-error.js';
import type { Backplane } from './backplane.js';
import { cancelHead, isCallHead, type NodeMessage } from './node-messages.js';

const NO_ARGUMENTS = new JsonText('{}');

/** The road of calls on this node. */
export interface CallsHere {
  /** Starts a call; `undefined` when its remote is not on this node. */
  startHere(request: CallRequest): TrackedCall | undefined;
}

/** The calls that other nodes ask this one to make, and their answers. */
export class AskedCalls {
  readonly #nodes = new Map<string, GenerationalMap<number, TrackedCall>>();

  constructor(
    private readonly calls: CallsHere,
    private readonly backplane: Pick<Backplane, 'send'>,
  ) {}

  /** Calls that have not ended. */
  get size(): number {
    let size = 0;
    for (const calls of this.#nodes.values()) size += calls.size;
    return size;
  }

  /** Takes a message about a call, if it is one. */
  receive({ head, body }: NodeMessage, from: string): boolean {
    if (head[0] === 'call') this.#call(head, body ?? NO_ARGUMENTS, from);
    else if (head[0] === 'cancel') this.#cancel(head, from);
    else return false;
    return true;
  }

  /** The callers of a node are gone with it: nobody is told how their calls end. */
  nodeGone(nodeId: string): void {
    const calls = this.#nodes.get(nodeId);
    this.#nodes.delete(nodeId);
    for (const call of calls?.values() ?? []) call.cancel('caller-gone');
  }

  /** None of the callers can be told anything any more. */
  cutOff(): void {
    for (const nodeId of [...this.#nodes.keys()]) this.nodeGone(nodeId);
  }

  #call(head: readonly unknown[], args: JsonText, from: string): void {
    if (!isCallHead(head)) return;
    const [, n, userId, remotename, functionName, timeoutMs, wantsProgress, ...trace] = head;
    const call = this.calls.startHere({
      userId,
      remotename,
      functionName,
      args,
      ...readTrace(trace),
      ...(timeoutMs > 0 && { timeoutMs }),
      ...(wantsProgress && {
        onProgress: (progress) => this.backplane.send(from, { head: ['progress', n], body: progress }),
      }),
    });
    if (call === undefined) this.backplane.send(from, { head: ['moved', n] });
    else this.#track(call, n, from);
  }

  #track(call: TrackedCall, n: number, from: string): void {
    let calls = this.#nodes.get(from);
    if (calls === undefined) this.#nodes.set(from, (calls = new GenerationalMap<number, TrackedCall>()));
    calls.set(n, call);
    call.whenOver({
      resolve: (result) => this.#ended(from, n, { head: ['result', n, call.requestId], body: result }),
      reject: (error) => this.#ended(from, n, { head: errorFields(n, error) }),
    });
  }

  #ended(from: string, n: number, answer: NodeMessage): void {
    const calls = this.#nodes.get(from);
    if (!calls?.delete(n)) return;
    if (calls.size === 0) this.#nodes.delete(from);
    this.backplane.send(from, answer);
  }

  #cancel(head: readonly unknown[], from: string): void {
    const read = cancelHead.safeParse(head);
    if (read.success) this.#nodes.get(from)?.get(read.data[1])?.cancel(read.data[2]);
  }
}

function readTrace([traceparent, tracestate]: readonly unknown[]): Pick<
  CallRequest,
  'traceparent' | 'tracestate'
> {
  if (traceparent === undefined) return {};
  return {
    traceparent: traceparentSchema.parse(traceparent),
    tracestate: tracestateSchema.parse(tracestate ?? undefined),
  };
}

function errorFields(n: number, error: RemoteError): readonly unknown[] {
  const { code, message, executed, requestId, retryAfterMs } = error;
  return ['error', n, code, message, executed, requestId ?? null, retryAfterMs ?? null];
}
