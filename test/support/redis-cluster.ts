import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../scripts/benchmark/ports.js';
import { RedisServer } from './redis.js';

const MASTERS = 3;
const SLOTS = 16_384;
const PATIENCE_MS = 20_000;
const STEP_MS = 20;

/** A Redis Cluster of three masters without replicas. A new one needs some two seconds: Redis itself waits so long. */
export class RedisCluster implements AsyncDisposable {
  private constructor(readonly masters: readonly RedisServer[]) {}

  /** Starts the servers, and waits until each of them knows the whole cluster. */
  static async start(): Promise<RedisCluster> {
    const started = await Promise.allSettled(Array.from({ length: MASTERS }, startMaster));
    const servers = started.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    const cluster = new RedisCluster(servers.map(({ server }) => server));
    try {
      for (const start of started) if (start.status === 'rejected') throw start.reason;
      await assignSlots(servers);
      await Promise.all(cluster.masters.map(untilWhole));
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Of each master; any of them leads a client to the others. */
  get urls(): readonly string[] {
    return this.masters.map(({ url }) => url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.masters.map(async (master) => master[Symbol.asyncDispose]()));
  }
}

interface Master {
  readonly server: RedisServer;
  /** Where the masters talk to each other; by default it is 10,000 above the other port, where there may be none. */
  readonly busPort: number;
}

async function startMaster(): Promise<Master> {
  const busPort = await freePort();
  const more = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)];
  more.push('--cluster-node-timeout', '2000');
  return { server: await RedisServer.start({ more }), busPort };
}

async function assignSlots(masters: readonly Master[]): Promise<void> {
  const [first] = masters;
  if (first === undefined) return;
  for (const [index, { server }] of masters.entries()) {
    const from = Math.ceil((index * SLOTS) / masters.length);
    const to = Math.ceil(((index + 1) * SLOTS) / masters.length) - 1;
    await server.command(`CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
    await server.command(`CLUSTER ADDSLOTSRANGE ${from} ${to}`);
    if (index > 0) await server.command(`CLUSTER MEET 127.0.0.1 ${first.server.port} ${first.busPort}`);
  }
}

async function untilWhole(server: RedisServer): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  let info = '';
  while (performance.now() < deadline) {
    info = await server.command('CLUSTER INFO');
    if (info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${MASTERS}`)) return;
    await delay(STEP_MS);
  }
  throw new Error(`the Redis Cluster did not come up: ${info}`);
}
