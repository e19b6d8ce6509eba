import type { FunctionSpec, JsonObject } from '@remotes-hub/protocol';

/** What a handler is told beside its arguments. */
export interface CallContext {
  /**
   * Aborts when nobody waits for the result any more: the call was cancelled, timed out, its caller left, the
   * remote was disconnected, or the connection ended. Its reason is a `RemoteError`.
   */
  readonly signal: AbortSignal;
  /** The hub's id of the call, `<remotename>#<n>`. */
  readonly requestId: string;
  /** Time left at the start, in milliseconds, when the hub tells it. */
  readonly timeoutMs: number | undefined;
  /** Where the call belongs in a trace, as W3C Trace Context writes it, when it belongs to one. */
  readonly traceparent?: string | undefined;
  /** What belongs to `traceparent`. */
  readonly tracestate?: string | undefined;
  /**
   * Tells the caller how far the call is, and starts its timeout anew. Does nothing after the call has ended.
   * @throws {TypeError | RangeError} the value is none that JSON can hold, or that a message can
   */
  progress(value: unknown): void;
}

/** What came of checking arguments. */
export type Outcome = { readonly call: () => unknown } | { readonly refusal: string };

/** A function ready to be served. */
export interface ServedFunction {
  readonly spec: FunctionSpec;
  /** Checks the arguments; the call itself is then one step. */
  prepare(args: JsonObject, context: CallContext): Outcome | Promise<Outcome>;
}
