import { randomUUID } from 'node:crypto';
import type { HubConfigInput, HubOptions } from '@remotes-hub/server';
import { startTestHub, type TestHub } from '../support/hub.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis.js';

/** Short enough for tests, long enough for a busy machine. */
export const LEASE_MS = 2_000;

/** Several nodes in this process that share a Redis of their own. */
export interface Nodes extends AsyncDisposable {
  readonly redis: RedisServer;
  /** Of all their keys and channels. */
  readonly prefix: string;
  readonly all: readonly TestHub[];
  /** One of them, from 0. */
  node(index: number): TestHub;
}

/** How nodes are started. */
export interface NodesOptions {
  /** @default 2 */
  readonly count?: number;
  readonly config?: HubConfigInput;
  readonly options?: HubOptions;
  /** Milliseconds. @default {@link LEASE_MS} */
  readonly leaseMs?: number;
  /** Leads each node to Redis. @default straight there */
  readonly urlOf?: (index: number, redisUrl: string) => string | Promise<string>;
  /** @default a new one */
  readonly redis?: RedisServer;
}

/** Starts nodes, and waits until each has joined the others. */
export async function startNodes({
  count = 2,
  config = {},
  options = {},
  leaseMs = LEASE_MS,
  urlOf = (_index, url) => url,
  redis: given,
}: NodesOptions = {}): Promise<Nodes> {
  const redis = given ?? (await RedisServer.start());
  const prefix = randomUUID();
  const all = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const url = await urlOf(index, redis.url);
      return startTestHub({ redis: { url, prefix, leaseMs }, ...config }, options);
    }),
  );
  for (const hub of all) await untilReady(hub);
  return {
    redis,
    prefix,
    all,
    node: (index) => {
      const hub = all[index];
      if (hub === undefined) throw new RangeError(`there is no node ${index}`);
      return hub;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(all.map(async (hub) => hub[Symbol.asyncDispose]()));
      if (given === undefined) await redis[Symbol.asyncDispose]();
    },
  };
}

/** Whether a node says that it is ready. */
export async function isReady({ url }: TestHub): Promise<boolean> {
  return (await fetch(`${url}/readyz`)).ok;
}

/** Waits until a node is ready, or is not. */
export async function untilReady(hub: TestHub, ready = true): Promise<void> {
  let last = !ready;
  const ask = async (): Promise<void> => {
    last = await isReady(hub);
  };
  await ask();
  await eventually(
    () => {
      ask().catch(() => undefined); // the last one may come when the node has gone
      return last === ready;
    },
    `the node is ${ready ? '' : 'not '}ready`,
  );
}
