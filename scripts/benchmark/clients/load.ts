import type { Payload } from '../payload.js';
import type { EchoCaller } from './adapter.js';

/** What a load of calls gave. */
export interface LoadFigures {
  readonly calls: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Calls of several callers, so many of each in flight. Numbers of calls go on from one run to the next. */
export class Load {
  #n = 0;

  constructor(
    private readonly callers: readonly EchoCaller[],
    private readonly payload: Payload,
  ) {}

  /** Whether replies that cross each other reach their own calls. @throws when one does not */
  async verify(inFlight: number): Promise<void> {
    await this.#everyLane(inFlight, async (caller) => {
      const n = this.#n++;
      this.payload.check(await caller.call(this.payload.arguments(n)), n);
    });
  }

  /** Calls for so long, and waits for the last replies. @throws when a reply is not its own */
  async run(inFlight: number, windowMs: number): Promise<LoadFigures> {
    const latencies: number[] = [];
    const began = performance.now();
    await this.#everyLane(inFlight, async (caller) => {
      for (let now = performance.now(); now - began < windowMs;) {
        const n = this.#n++;
        const reply = await caller.call(this.payload.arguments(n));
        const end = performance.now();
        this.payload.glance(reply, n);
        latencies.push(end - now);
        now = end;
      }
    });
    const seconds = (performance.now() - began) / 1_000;
    latencies.sort((a, b) => a - b);
    const quantile = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
    return { calls: latencies.length, seconds, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
  }

  async #everyLane(inFlight: number, lane: (caller: EchoCaller) => Promise<void>): Promise<void> {
    const lanes = this.callers.flatMap((caller) =>
      Array.from({ length: inFlight }, async () => lane(caller)),
    );
    await Promise.all(lanes);
  }
}
