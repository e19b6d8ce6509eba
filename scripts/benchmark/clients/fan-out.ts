import type { FanOutClient } from './adapter.js';

/** What publishing for a while gave. */
export interface FanOutFigures {
  readonly deliveries: number;
  readonly seconds: number;
}

/** One publishes, all receive; the next is published when everybody has got the one before. */
export class FanOut {
  #missing = 0;
  #delivered: (() => void) | undefined;
  #failed: ((error: Error) => void) | undefined;
  readonly #clients: FanOutClient[] = [];

  add(client: FanOutClient): void {
    this.#clients.push(client);
  }

  /** One client has received something. */
  received(isRight: boolean): void {
    if (!isRight) this.#failed?.(new Error('something else was received than what was published'));
    this.#missing -= 1;
    if (this.#missing === 0) this.#delivered?.();
  }

  /** @throws when something else is received than what was published */
  async run(windowMs: number): Promise<FanOutFigures> {
    const began = performance.now();
    let deliveries = 0;
    do {
      await this.#publish();
      deliveries += this.#clients.length;
    } while (performance.now() - began < windowMs);
    return { deliveries, seconds: (performance.now() - began) / 1_000 };
  }

  async #publish(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#missing = this.#clients.length;
      this.#delivered = resolve;
      this.#failed = reject;
      this.#clients[0]?.publish();
    });
  }
}
