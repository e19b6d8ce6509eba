import type { JsonText } from '../json/json-text.js';
import { RemoteError } from './remote-error.js';

/** Told how a call ended, once. */
export interface CallListener {
  readonly resolve: (result: JsonText) => void;
  readonly reject: (error: RemoteError) => void;
}

/** The end of one call: it comes once, and is told once, to one listener. Whatever comes later is ignored. */
export class CallEnd {
  #listener: CallListener | undefined;
  #outcome: JsonText | RemoteError | undefined;
  #result: Promise<JsonText> | undefined;

  get isOver(): boolean {
    return this.#outcome !== undefined;
  }

  /** The result, or a rejection with a {@link RemoteError}; in place of a listener. */
  get result(): Promise<JsonText> {
    this.#result ??= new Promise((resolve, reject) => this.whenOver({ resolve, reject }));
    return this.#result;
  }

  /** Tells a result in the moment it comes, a failure after the work at hand. */
  whenOver(listener: CallListener): void {
    this.#listener = listener;
    if (this.#outcome !== undefined) tell(listener, this.#outcome);
  }

  /** Notes the end; {@link tell} tells it, once all that hangs on the call is in order. @returns false when it is over */
  end(outcome: JsonText | RemoteError): boolean {
    if (this.isOver) return false;
    this.#outcome = outcome;
    return true;
  }

  /** Tells the end that has come. */
  tell(): void {
    if (this.#listener !== undefined && this.#outcome !== undefined) tell(this.#listener, this.#outcome);
  }
}

function tell(listener: CallListener, outcome: JsonText | RemoteError): void {
  if (outcome instanceof RemoteError) queueMicrotask(() => listener.reject(outcome));
  else listener.resolve(outcome);
}
