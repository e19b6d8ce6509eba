import { createHash } from 'node:crypto';
import type { RequestedCall } from './requested-calls.js';

/** The longest cycle of steps that is seen as one: `f, g, f, g` has two. */
const MAX_PERIOD = 4;
/** How often the same step is taken before its calls are no longer made. */
export const MAX_SAME_STEPS = 2;
/** How often the model is told so; the next time ends the run. */
export const MAX_REPETITION_NOTES = 2;

/** Steps that matter: as many cycles as it takes to stop. */
const MAX_REMEMBERED = MAX_PERIOD * (MAX_SAME_STEPS + MAX_REPETITION_NOTES + 1);

/**
 * Notices that a model goes round in circles: its last steps asked for the same calls with the same arguments, one
 * step again and again or up to four in turn. Anything new in between (a test run after each change) is no circle.
 */
export class Repetition {
  /** A fingerprint for each of the last steps. */
  readonly #steps: string[] = [];

  /** Takes a step. @returns how often it has been taken in a row, this time included */
  count(calls: readonly RequestedCall[]): number {
    this.#steps.push(fingerprint(calls));
    if (this.#steps.length > MAX_REMEMBERED) this.#steps.shift();
    let most = 1;
    for (let period = 1; period <= MAX_PERIOD; period += 1) {
      most = Math.max(most, Math.ceil(this.#lengthOfCycle(period) / period));
    }
    return most;
  }

  /** How many of the last steps each equal the one so many before it, with the first cycle itself. */
  #lengthOfCycle(period: number): number {
    const steps = this.#steps;
    let length = Math.min(period, steps.length);
    while (length < steps.length && steps.at(-1 - length + period) === steps.at(-1 - length)) length += 1;
    return length;
  }
}

/** The calls of a step in whatever order; the text of their arguments counts as it was written. */
function fingerprint(calls: readonly RequestedCall[]): string {
  const keys = calls.map(({ name, shownArgs }) => JSON.stringify([name, shownArgs.text])).toSorted();
  return createHash('sha256').update(keys.join('\n')).digest('base64');
}
