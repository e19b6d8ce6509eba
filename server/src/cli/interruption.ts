import { exitCodes } from './exit-codes.js';

const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * SIGINT and SIGTERM, from its making until it is disposed of. The first aborts {@link signal}, so that the
 * command can end in order; the second ends the process at once.
 */
export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  readonly #onSignal = (): void => {
    if (this.#controller.signal.aborted) this.exitNow(exitCodes.failed);
    this.#controller.abort();
  };

  constructor(private readonly exitNow: (exitCode: number) => void) {
    for (const name of signals) process.on(name, this.#onSignal);
  }

  /** Aborted once the command is to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Resolves when the command is to end. */
  wait(): Promise<void> {
    const { signal } = this.#controller;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  [Symbol.dispose](): void {
    for (const name of signals) process.off(name, this.#onSignal);
  }
}
