import type { RemoteError } from './errors.js';

/** The early end of a call, as a signal for handlers that look at it: most do not, and making one is dear. */
export class CallEnding {
  #controller: AbortController | undefined;
  #reason: RemoteError | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: RemoteError): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
