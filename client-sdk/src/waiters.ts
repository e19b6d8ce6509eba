/** Those who wait for a connection. Each ends once: when there is one, when there will be none, or by itself. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

  /** Waits until {@link release}, at most so long, or until the signal aborts. */
  async wait(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      signal?.addEventListener('abort', done);
      this.#waiting.add(done);
    });
  }

  /** Lets all of them go on. */
  release(): void {
    for (const done of this.#waiting) done();
  }
}
