import * as z from 'zod';
import { builtFile } from './build.js';
import { ChildProgram } from './child-program.js';
import { MeasuredServer } from './measured-server.js';
import { nodeArguments } from './node-start.js';
import { freePort } from './ports.js';
import type { Clients, Launches } from './running-target.js';
import type { NodeTarget } from './targets.js';

/** The processes whose CPU time counts, and what each has used, in microseconds. */
export type NodesCpuUs = Readonly<Record<'servingNode' | 'callingNode' | 'redis', number>>;

/**
 * Two nodes of a target and a Redis of their own, all on one core, and the process of the clients on another: the
 * serving client is connected to node 1, the callers are connected to node 2.
 */
export class RunningNodes implements AsyncDisposable, Clients {
  private constructor(
    private readonly servers: Readonly<Record<keyof NodesCpuUs, MeasuredServer>>,
    private readonly clients: ChildProgram,
    /** In the order they were started. */
    private readonly processes: readonly AsyncDisposable[],
  ) {}

  static async start({ node, clients }: NodeTarget, launches: Launches): Promise<RunningNodes> {
    const processes: AsyncDisposable[] = [];
    const startServer = async (program: string, args?: readonly string[]): Promise<MeasuredServer> => {
      const server = await MeasuredServer.start(program, launches.server, args);
      processes.push(server);
      return server;
    };
    try {
      const redis = await startServer('servers/redis');
      const start = { redisUrl: redis.url, linkPorts: [await freePort(), await freePort()] } as const;
      const servingNode = await startServer(node, nodeArguments({ ...start, node: 1 }));
      const callingNode = await startServer(node, nodeArguments({ ...start, node: 2 }));
      const { program } = await ChildProgram.start(builtFile(clients), launches.clients);
      processes.push(program);
      return new RunningNodes({ redis, servingNode, callingNode }, program, processes);
    } catch (cause) {
      await endAll(processes);
      throw new Error(`${node}, its Redis or its clients could not be started`, { cause });
    }
  }

  /** Lets the clients do something, and tells what it cost each of the servers, in microseconds of CPU time. */
  async measure<T>(
    what: string,
    input: object,
    schema: z.ZodType<T>,
  ): Promise<{ cpuUs: NodesCpuUs; value: T }> {
    const before = await this.#cpuUs();
    const value = await this.clients.ask(what, { ...this.#urls, ...input }, schema);
    const after = await this.#cpuUs();
    const cpuUs = {
      servingNode: after.servingNode - before.servingNode,
      callingNode: after.callingNode - before.callingNode,
      redis: after.redis - before.redis,
    };
    return { cpuUs, value };
  }

  async prepare(what: string, input: object): Promise<void> {
    await this.clients.ask(what, { ...this.#urls, ...input }, z.unknown());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endAll(this.processes);
  }

  get #urls(): { url: string; servingUrl: string } {
    return { url: this.servers.callingNode.url, servingUrl: this.servers.servingNode.url };
  }

  async #cpuUs(): Promise<NodesCpuUs> {
    const { servingNode, callingNode, redis } = this.servers;
    return {
      servingNode: await servingNode.cpuUs(),
      callingNode: await callingNode.cpuUs(),
      redis: await redis.cpuUs(),
    };
  }
}

/** Clients before nodes, and Redis last. */
async function endAll(processes: readonly AsyncDisposable[]): Promise<void> {
  for (const running of processes.toReversed()) await running[Symbol.asyncDispose]();
}
