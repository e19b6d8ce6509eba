/** What an action gave and the shortest time it took, in milliseconds. */
export interface Timed<T> {
  readonly result: T;
  readonly milliseconds: number;
}

/**
 * Runs an action until it was fast enough, at most three times: other work on the machine can slow
 * one try, a slow algorithm slows all of them.
 */
export function timed<T>(action: () => T, enoughMs: number): Timed<T> {
  let milliseconds = Infinity;
  for (let tries = 1; ; tries += 1) {
    const start = performance.now();
    const result = action();
    milliseconds = Math.min(milliseconds, performance.now() - start);
    if (milliseconds < enoughMs || tries === 3) return { result, milliseconds };
  }
}
