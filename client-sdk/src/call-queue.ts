import type { JsonObject } from '@remotes-hub/protocol';
import type { CallContext, Outcome, ServedFunction } from './served-function.js';

const LEFT = 'nobody waits for this call any more: it left the queue of its function and did not run';

/** Lets so many calls of one function run at once; the others wait in the order in which they came. */
export class CallQueue {
  /** Whoever waits has no free place: a place that is given up goes to the first of them at once. */
  #freePlaces: number;
  readonly #waiting = new Set<() => void>();

  constructor(maxConcurrent: number) {
    this.#freePlaces = maxConcurrent;
  }

  /**
   * The same function, limited: its arguments are checked when it is the call's turn. A call has its place until
   * its handler has ended, also when nobody waits for that; one whose signal aborts before is refused.
   */
  limit(prepare: ServedFunction['prepare']): ServedFunction['prepare'] {
    return async (args, context) => {
      if (!(await this.#enter(context.signal))) return { refusal: LEFT };
      return this.#prepare(prepare, args, context);
    };
  }

  async #prepare(
    prepare: ServedFunction['prepare'],
    args: JsonObject,
    context: CallContext,
  ): Promise<Outcome> {
    let outcome: Outcome;
    try {
      outcome = await prepare(args, context);
    } catch (error) {
      this.#leave();
      throw error;
    }
    if (!('refusal' in outcome) && !context.signal.aborted) {
      return { call: this.#inPlace(outcome.call, context.signal) };
    }
    this.#leave();
    return 'refusal' in outcome ? outcome : { refusal: LEFT };
  }

  /** The call, which gives up its place when it ends, or when it is cancelled before it begins. */
  #inPlace(call: () => unknown, signal: AbortSignal): () => Promise<unknown> {
    const leave = (): void => this.#leave();
    signal.addEventListener('abort', leave, { once: true });
    return async () => {
      if (signal.aborted) throw new Error(LEFT);
      signal.removeEventListener('abort', leave);
      try {
        return await call();
      } finally {
        this.#leave();
      }
    };
  }

  /** Waits for a place; `false` when the signal aborts first. */
  async #enter(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#freePlaces > 0) {
      this.#freePlaces -= 1;
      return true;
    }
    return new Promise((resolve) => {
      const enter = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      };
      const giveUp = (): void => {
        this.#waiting.delete(enter);
        resolve(false);
      };
      this.#waiting.add(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#freePlaces += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
