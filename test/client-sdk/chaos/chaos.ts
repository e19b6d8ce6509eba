import { setTimeout as delay } from 'node:timers/promises';
import { RemoteError, connect, type Hub, type JsonValue } from '@remotes-hub/client';
import { FaultProxy } from '../../support/fault-proxy.js';
import { startTestHub, type TestHub } from '../../support/hub.js';

const SESSIONS = 20;
const CALL_TIMEOUT_MS = 2_000;
/** How late a call may end beyond its timeout, in milliseconds. */
const LATE_MS = 6_000;
const SERVED_AGAIN_MS = 5_000;

/** What came of it. */
export interface ChaosReport {
  readonly faults: Readonly<Record<string, number>>;
  readonly calls: number;
  readonly results: number;
  /** Failed calls by code. */
  readonly failures: Readonly<Record<string, number>>;
  /** Rules that were broken, in words. */
  readonly problems: readonly string[];
  /** From the last fault until every remote was served again, in milliseconds. */
  readonly servedAgainMs: number;
  readonly longestCallMs: number;
  readonly reconnects: number;
}

/**
 * Sessions that serve and call through proxies which drop, stall, half-close and delay their connections. Every call
 * has to end, with its own result or a coded error, and no function may run twice for one call.
 */
export async function runChaos(seconds: number): Promise<ChaosReport> {
  await using hub = await startTestHub();
  const world = new ChaosWorld(hub);
  await world.start();
  const end = performance.now() + seconds * 1_000;
  const callers = world.clients.map(async (client) => world.callUntil(client, end));
  await world.harass(end);
  const lastFault = performance.now();
  await Promise.all(callers);
  const servedAgainMs = await world.untilServed(lastFault);
  await world.stop();
  await hub.idle(0);
  return world.report(servedAgainMs);
}

class ChaosWorld {
  readonly clients: Hub[] = [];
  readonly #proxies: FaultProxy[] = [];
  readonly #ran = new Map<string, number>();
  readonly #problems: string[] = [];
  readonly #faults = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  #calls = 0;
  #results = 0;
  #reconnects = 0;
  #longestCallMs = 0;

  constructor(private readonly hub: TestHub) {}

  async start(): Promise<void> {
    for (let index = 0; index < SESSIONS; index += 1) {
      const proxy = await FaultProxy.start(this.hub.url);
      this.#proxies.push(proxy);
      const client = await connect(proxy.url, {
        token: async () => this.hub.token(),
        reconnect: { delayMs: 100, maxDelayMs: 1_000 },
        livenessMs: 1_000,
        connectTimeoutMs: 1_000,
      });
      client.on('state', ({ state }) => (this.#reconnects += state === 'open' ? 1 : 0));
      client.on('serve-failed', ({ remotename, code }) => this.#problems.push(`${remotename}: ${code}`));
      await this.#serve(client, index);
      this.clients.push(client);
    }
  }

  /** Every other remote may answer after a reconnect. */
  async #serve(client: Hub, index: number): Promise<void> {
    const handler = async ({ id }: { id?: JsonValue }): Promise<JsonValue> => {
      this.#count(this.#ran, textOf(id));
      await delay(Math.random() * 30);
      return { id: id ?? null, by: index };
    };
    await client.serve(`r${index}`, { f: { handler } }, { resumeMs: index % 2 === 0 ? 2_000 : 0 });
  }

  async callUntil(client: Hub, end: number): Promise<void> {
    const loops = Array.from({ length: 3 }, async () => {
      while (performance.now() < end) {
        await this.#call(client);
        await delay(5);
      }
    });
    await Promise.all(loops);
  }

  async #call(client: Hub): Promise<void> {
    this.#calls += 1;
    const id = `call ${this.#calls}`;
    const target = Math.floor(Math.random() * SESSIONS);
    const start = performance.now();
    try {
      const result = await client.call(`r${target}`, 'f', { id }, { timeoutMs: CALL_TIMEOUT_MS });
      this.#results += 1;
      if (JSON.stringify(result) !== JSON.stringify({ id, by: target })) {
        this.#problems.push(`${id} got ${JSON.stringify(result)}`);
      }
      if (this.#ran.get(textOf(id)) !== 1)
        this.#problems.push(`${id} has a result, and ran ${this.#ran.get(textOf(id))} times`);
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      this.#count(this.#failures, error.code);
      if (error.executed === 'no' && this.#ran.has(textOf(id)))
        this.#problems.push(`${id} ran in spite of ${error.code}`);
    }
    const took = performance.now() - start;
    this.#longestCallMs = Math.max(this.#longestCallMs, took);
    if (took > CALL_TIMEOUT_MS + LATE_MS) this.#problems.push(`${id} took ${Math.round(took)} ms`);
  }

  async harass(end: number): Promise<void> {
    while (performance.now() < end) {
      await delay(20 + Math.random() * 100);
      const proxy = this.#proxies[Math.floor(Math.random() * SESSIONS)];
      if (proxy !== undefined) this.#inflict(proxy);
    }
    for (const proxy of this.#proxies) {
      proxy.isDown = false;
      proxy.delayMs = 0;
    }
  }

  #inflict(proxy: FaultProxy): void {
    const faults: Record<string, () => void> = {
      cut: () => proxy.cut(),
      stall: () => proxy.stall(),
      'half-close': () => proxy.halfClose(),
      delay: () => (proxy.delayMs = proxy.delayMs === 0 ? Math.random() * 100 : 0),
      down: () => {
        proxy.isDown = !proxy.isDown;
        if (proxy.isDown) proxy.cut();
      },
    };
    const names = Object.keys(faults);
    const name = names[Math.floor(Math.random() * names.length)] ?? 'cut';
    this.#count(this.#faults, name);
    faults[name]?.();
  }

  async untilServed(since: number): Promise<number> {
    const token = await this.hub.token();
    await using watcher = await connect(this.hub.url, { token });
    for (;;) {
      const served = (await watcher.list()).length;
      const tookMs = performance.now() - since;
      if (served === SESSIONS) return Math.round(tookMs);
      if (tookMs > 2 * SERVED_AGAIN_MS) {
        this.#problems.push(
          `${served} of ${SESSIONS} remotes are served ${Math.round(tookMs)} ms after the last fault`,
        );
        return Math.round(tookMs);
      }
      await delay(20);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.clients.map(async (client) => client.close()));
    await Promise.all(this.#proxies.map(async (proxy) => proxy[Symbol.asyncDispose]()));
  }

  report(servedAgainMs: number): ChaosReport {
    if (servedAgainMs > SERVED_AGAIN_MS) this.#problems.push(`served again after ${servedAgainMs} ms`);
    for (const [id, times] of this.#ran) if (times > 1) this.#problems.push(`${id} ran ${times} times`);
    return {
      faults: Object.fromEntries(this.#faults),
      calls: this.#calls,
      results: this.#results,
      failures: Object.fromEntries(this.#failures),
      problems: this.#problems,
      servedAgainMs,
      longestCallMs: Math.round(this.#longestCallMs),
      reconnects: this.#reconnects,
    };
  }

  #count(counts: Map<string, number>, key: string): void {
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
}

function textOf(id: JsonValue | undefined): string {
  return typeof id === 'string' ? id : 'a call without an id';
}
