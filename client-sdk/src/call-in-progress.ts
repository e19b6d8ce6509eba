import type { RemoteError } from './errors.js';
import type { CallContext } from './served-function.js';

/** What a handler is told of its call, without its signal. */
type Told = Omit<CallContext, 'signal' | 'progress'>;

/**
 * One call as its handler sees it, and its early end. Its signal is made for handlers that look at it alone: most do not, and
 * making one is dear, as is an object literal with a getter.
 */
export class CallInProgress implements CallContext {
  readonly requestId: string;
  readonly timeoutMs: number | undefined;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  #controller: AbortController | undefined;
  #reason: RemoteError | undefined;

  constructor(
    { requestId, timeoutMs, traceparent, tracestate }: Told,
    readonly progress: (value: unknown) => void,
  ) {
    this.requestId = requestId;
    this.timeoutMs = timeoutMs;
    this.traceparent = traceparent;
    this.tracestate = tracestate;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Nobody waits for the call any more. */
  abort(reason: RemoteError): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
