import { vi } from 'vitest';

/** A clock that the test moves. */
export interface FakeClock extends Disposable {
  /** Moves time on, running what is due on the way, in milliseconds. */
  advance(ms: number): Promise<void>;
}

/** Fakes setTimeout, setInterval, Date and performance.now, and leaves I/O, immediates and promises real. */
export function fakeClock(now = Date.now()): FakeClock {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    now,
  });
  return {
    advance: async (ms) => {
      await vi.advanceTimersByTimeAsync(ms);
    },
    [Symbol.dispose]: () => {
      vi.useRealTimers();
    },
  };
}
