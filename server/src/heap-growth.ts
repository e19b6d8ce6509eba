import { setFlagsFromString } from 'node:v8';

/** How much a heap may grow by, of what was alive in it, in percent: V8 itself goes up to this where it sees fit. */
const GROWING_PERCENT = 300;

/**
 * Lets the heap of this process grow to four times what is alive before all of it is looked through, as V8 does by
 * itself in programs that make much of it. A hub makes little: large messages lie outside the heap, but count against
 * its bound, so that V8 keeps at looking through the same live objects for them. With messages of 1 MiB that was more
 * than a quarter of a hub's time; what passes through is found in the cheap collections of young objects. For the
 * program that has the process, not for one that has a hub among other things.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
