import { FaultProxy } from '../../support/fault-proxy.js';
import { HubProcess } from '../../support/hub-process.js';
import { RedisServer } from '../../support/redis.js';

/** How many nodes there are. */
export const NODES = 3;

/** The node that reaches Redis through a proxy. */
export const PROXIED_NODE = NODES - 1;

/** A node that could not answer anybody for a while. Times as `performance.now()` tells them. */
export interface Silence {
  readonly node: number;
  readonly from: number;
  readonly to: number;
}

/** Hub processes on one Redis; the last of them reaches it through a proxy that can cut it off. */
export class FaultCluster implements AsyncDisposable {
  readonly silences: Silence[] = [];
  readonly nodes: HubProcess[] = [];

  private constructor(
    readonly redis: RedisServer,
    readonly proxy: FaultProxy,
  ) {}

  /** @param leaseMs of the nodes, in milliseconds */
  static async start(leaseMs: number): Promise<FaultCluster> {
    const redis = await RedisServer.start();
    const cluster = new FaultCluster(redis, await FaultProxy.start(redis.url));
    try {
      await cluster.#startNodes(leaseMs);
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** @throws {RangeError} there is no such node */
  node(index: number): HubProcess {
    const node = this.nodes[index];
    if (node === undefined) throw new RangeError(`there is no node ${index}`);
    return node;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map(async (node) => node[Symbol.asyncDispose]()));
    await this.proxy[Symbol.asyncDispose]();
    await this.redis[Symbol.asyncDispose]();
  }

  async #startNodes(leaseMs: number): Promise<void> {
    const starts = Array.from({ length: NODES }, async (_, index) => {
      const url = index === PROXIED_NODE ? this.proxy.url : this.redis.url;
      return HubProcess.start({ config: { redis: { url, leaseMs }, log: { level: 'warn' } } });
    });
    // those that have started are known first, so that all of them are ended
    for (const start of await Promise.allSettled(starts))
      if (start.status === 'fulfilled') this.nodes.push(start.value);
    await Promise.all(starts);
    await Promise.all(this.nodes.map(async (node) => node.untilReady()));
  }
}
