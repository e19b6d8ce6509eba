import type { JsonText } from '../json/json-text.js';
import { RemoteError } from './remote-error.js';

/** Told how a call ended, once. */
export interface CallListener {
  resolve(result: JsonText): void;
  reject(error: RemoteError): void;
}

/**
 * The end of one call: it comes once, and is told once, to one listener. Whatever comes later is ignored. Nothing of it
 * is kept when it has been told.
 */
export class CallEnd {
  #isOver = false;
  #listener: CallListener | undefined;
  #outcome: JsonText | RemoteError | undefined;
  #result: Promise<JsonText> | undefined;

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The result, or a rejection with a {@link RemoteError}; in place of a listener. */
  get result(): Promise<JsonText> {
    this.#result ??= new Promise((resolve, reject) => this.whenOver({ resolve, reject }));
    return this.#result;
  }

  /** Tells a result in the moment it comes, a failure after the work at hand. */
  whenOver(listener: CallListener): void {
    this.#listener = listener;
    this.tell();
  }

  /** Notes the end; {@link tell} tells it, once all that hangs on the call is in order. @returns false when it is over */
  end(outcome: JsonText | RemoteError): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#outcome = outcome;
    return true;
  }

  /** Tells the end, when it has come and somebody listens. */
  tell(): void {
    const listener = this.#listener;
    const outcome = this.#outcome;
    if (listener === undefined || outcome === undefined) return;
    this.#listener = undefined;
    this.#outcome = undefined;
    if (outcome instanceof RemoteError) queueMicrotask(() => listener.reject(outcome));
    else listener.resolve(outcome);
  }
}
