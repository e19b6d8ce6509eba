import { connect, type Hub } from '@remotes-hub/client';
import { HubProcess } from '../support/hub-process.js';
import { RedisServer } from '../support/redis.js';
import { Balancer } from './balancer.js';

/** Two nodes as processes, their Redis, and the balancer of docker-compose.yml in front of them. */
export class Deployment implements AsyncDisposable {
  private constructor(
    readonly redis: RedisServer,
    readonly nodes: readonly [HubProcess, HubProcess],
    readonly balancer: Balancer,
  ) {}

  static async start(): Promise<Deployment> {
    const redis = await RedisServer.start();
    const config = {
      redis: { url: redis.url },
      metrics: {},
      limits: { maxUnauthenticatedPerAddress: 1_000 },
    };
    const nodes = await Promise.all([HubProcess.start({ config }), HubProcess.start({ config })]);
    await Promise.all(nodes.map(async (node) => node.untilReady()));
    return new Deployment(redis, nodes, await Balancer.start(nodes.map(({ url }) => url)));
  }

  /** A session of the user "u1", on the node that the balancer chooses. */
  async connect(): Promise<Hub> {
    return connect(this.balancer.url, { token: await this.nodes[0].token() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.balancer[Symbol.asyncDispose]();
    await Promise.all(this.nodes.map(async (node) => node[Symbol.asyncDispose]()));
    await this.redis[Symbol.asyncDispose]();
  }
}

/** How many sessions a node has, by its metrics. */
export async function sessionsOf({ url }: HubProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^remotes_hub_sessions (\d+)$/mu.exec(text)?.[1]);
}
