import {
  jsonObjectSchema,
  type CancelReason,
  type FunctionSpec,
  type JsonObject,
} from '@remotes-hub/protocol';
import { JsonText } from '../json/json-text.js';
import { TraceSpan } from '../observability/tracing.js';
import { describeFailure, functionFailed } from './function-failure.js';
import { excessOf, type MessageBounds } from './message-bounds.js';
import { PendingCalls, type PendingCall } from './pending-calls.js';
import type { ForwardedCall, Provider } from './provider.js';
import { RemoteError } from './remote-error.js';
import { RequestIds } from './request-ids.js';

/** What a function of the host program gets beside its arguments. */
export interface HostCallContext {
  /** Aborted when nobody waits for the result any more; its reason is a `RemoteError` or a word of the wire. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** Time for an answer, in milliseconds. */
  readonly timeoutMs: number;
  /** Where the call belongs in a trace, as W3C Trace Context writes it; absent for a call that is not traced. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  /** Tells the caller how far the call is, and starts its deadline anew. */
  progress(value: unknown): void;
}

/** A function that the host program serves itself. */
export interface HostFunction extends FunctionSpec {
  /** Whatever it returns is the result, `undefined` is `null`; whatever it throws is the call's error. */
  readonly handler: (args: JsonObject, context: HostCallContext) => unknown;
}

/** The host program as a provider: its functions run in this process. */
export class HostProvider implements Provider {
  readonly pending = new PendingCalls();
  readonly #requestIds = new RequestIds();
  readonly #running = new Map<PendingCall, AbortController>();
  readonly #functions: ReadonlyMap<string, HostFunction>;

  constructor(
    functions: readonly HostFunction[],
    private readonly bounds: MessageBounds,
  ) {
    this.#functions = new Map(functions.map((served) => [served.name, served]));
  }

  nextRequestId(remotename: string): string {
    return this.#requestIds.next(remotename);
  }

  forward(call: ForwardedCall): void {
    const controller = new AbortController();
    this.#running.set(call.pending, controller);
    void this.#run(call, controller.signal);
  }

  withdraw(pending: PendingCall, reason: CancelReason): void {
    const controller = this.#running.get(pending);
    this.#running.delete(pending); // its handler may never end
    controller?.abort(reason);
  }

  /** It lives as long as the hub does. */
  probe(): true {
    return true;
  }

  /** Never rejects: whatever happens to a handler is the outcome of its call. */
  async #run(call: ForwardedCall, signal: AbortSignal): Promise<void> {
    const { pending } = call;
    try {
      const result = encode(await this.#handle(call, signal), 'result', this.bounds);
      if (result instanceof RemoteError) pending.fail(result);
      else pending.resolve(result);
    } catch (error) {
      // also an error of a call that the handler made: this function has run, whatever became of the other
      pending.fail(functionFailed(error, undefined));
    }
    this.#running.delete(pending);
  }

  async #handle(call: ForwardedCall, signal: AbortSignal): Promise<unknown> {
    const { pending, functionName, args, timeoutMs, trace } = call;
    await Promise.resolve(); // a handler never runs before its caller has the call in hand
    const context: HostCallContext = {
      signal,
      requestId: pending.requestId,
      timeoutMs,
      traceparent: trace.traceparent,
      tracestate: trace.traceparent === undefined ? undefined : trace.tracestate,
      progress: (value) => {
        const progress = encode(value, 'progress', this.bounds);
        if (progress instanceof RemoteError) throw progress;
        pending.progress(progress);
      },
    };
    const handle = (): unknown =>
      // parsed anew: the handler may keep it or change it
      this.#functions.get(functionName)?.handler(jsonObjectSchema.parse(args.parse()), context);
    return trace instanceof TraceSpan ? trace.run(handle) : handle();
  }
}

/** A value of the host program as JSON, or why neither JSON nor a message can hold it. */
function encode(value: unknown, what: string, bounds: MessageBounds): JsonText | RemoteError {
  const json = stringify(value, what);
  if (json instanceof RemoteError) return json;
  const excess = excessOf(json, bounds);
  if (excess === undefined) return json;
  const code = excess.of === 'depth' ? 'invalid-result' : 'function-failed';
  return new RemoteError(code, `the ${what} is ${excess.text}`);
}

function stringify(value: unknown, what: string): JsonText | RemoteError {
  if (value === undefined) return new JsonText('null');
  const noJson = (why: string): RemoteError =>
    new RemoteError('function-failed', `the ${what} is no JSON: ${why}`.slice(0, 300));
  try {
    const text: unknown = JSON.stringify(value);
    return typeof text === 'string' ? new JsonText(text) : noJson(`a ${typeof value}`);
  } catch (error) {
    return noJson(describeFailure(error));
  }
}
