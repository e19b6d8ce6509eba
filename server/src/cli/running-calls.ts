import type { FunctionDefinition } from '@remotes-hub/client';

/** The calls that run in this process: tells how each ends, and waits for all of them. */
export class RunningCalls {
  #running = 0;
  #onDrained: () => void = () => undefined;

  /** @param report told one line for every call that ends */
  constructor(private readonly report: (line: string) => void) {}

  /** The same functions, their calls counted. */
  watch(functions: ReadonlyMap<string, FunctionDefinition>): Record<string, FunctionDefinition> {
    return Object.fromEntries(
      [...functions].map(([name, definition]) => [name, this.#watched(name, definition)]),
    );
  }

  /** Resolves when no call runs, and at the latest after `timeoutMs`. */
  async drained(timeoutMs: number): Promise<void> {
    if (this.#running === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
      timer = setTimeout(resolve, timeoutMs);
    });
    clearTimeout(timer);
  }

  #watched(name: string, definition: FunctionDefinition): FunctionDefinition {
    return {
      ...definition,
      handler: async (args, context) => {
        const start = performance.now();
        this.#running += 1;
        let outcome = 'failed';
        try {
          const result: unknown = await definition.handler(args, context);
          outcome = 'done';
          return result;
        } finally {
          this.#running -= 1;
          this.report(
            `${context.requestId} ${name}: ${outcome} in ${Math.round(performance.now() - start)} ms`,
          );
          if (this.#running === 0) this.#onDrained();
        }
      },
    };
  }
}
