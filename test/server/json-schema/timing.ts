/** What an action gave and the shortest time it took, in milliseconds. */
export interface Timed<T> {
  readonly result: T;
  readonly milliseconds: number;
}

/**
 * Runs an action until it was fast enough, at most three times, and takes the lesser of the clock's
 * and the processor's time: other work on the machine slows a try, a slow algorithm slows them all.
 */
export function timed<T>(action: () => T, enoughMs: number): Timed<T> {
  let milliseconds = Infinity;
  for (let tries = 1; ; tries += 1) {
    const start = performance.now();
    const processorStart = process.cpuUsage();
    const result = action();
    const elapsed = performance.now() - start;
    const { user, system } = process.cpuUsage(processorStart);
    milliseconds = Math.min(milliseconds, elapsed, (user + system) / 1000);
    if (milliseconds < enoughMs || tries === 3) return { result, milliseconds };
  }
}
