import * as z from 'zod';
import { builtFile } from './build.js';
import { ChildProgram, type Launch } from './child-program.js';
import { MeasuredServer } from './measured-server.js';
import type { Target } from './targets.js';

/** How the two processes of a target are started. */
export interface Launches {
  readonly server: Launch;
  readonly clients: Launch;
}

/** Clients that can be told to do something. */
export interface Clients {
  /** Lets them do something that is not measured. */
  prepare(what: string, input: object): Promise<void>;
}

/** The server of a target and the process of its clients, each on a core of its own. */
export class RunningTarget implements AsyncDisposable, Clients {
  private constructor(
    readonly server: MeasuredServer,
    readonly clients: ChildProgram,
  ) {}

  static async start(target: Pick<Target, 'server' | 'clients'>, launches: Launches): Promise<RunningTarget> {
    const [server, clients] = await Promise.allSettled([
      MeasuredServer.start(target.server, launches.server),
      ChildProgram.start(builtFile(target.clients), launches.clients),
    ]);
    if (server.status === 'fulfilled' && clients.status === 'fulfilled')
      return new RunningTarget(server.value, clients.value.program);
    if (server.status === 'fulfilled') await server.value[Symbol.asyncDispose]();
    if (clients.status === 'fulfilled') await clients.value.program[Symbol.asyncDispose]();
    throw new Error(`${target.server} or its clients could not be started`, {
      cause: server.status === 'rejected' ? server.reason : undefined,
    });
  }

  /** Lets the clients do something, and tells what it cost the server, in microseconds of CPU time. */
  async measure<T>(what: string, input: object, schema: z.ZodType<T>): Promise<{ cpuUs: number; value: T }> {
    const before = await this.server.cpuUs();
    const value = await this.clients.ask(what, { url: this.server.url, ...input }, schema);
    return { cpuUs: (await this.server.cpuUs()) - before, value };
  }

  async prepare(what: string, input: object): Promise<void> {
    await this.clients.ask(what, { url: this.server.url, ...input }, z.unknown());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.clients[Symbol.asyncDispose](), this.server[Symbol.asyncDispose]()]);
  }
}
