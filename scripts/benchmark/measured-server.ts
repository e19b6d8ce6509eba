import * as z from 'zod';
import { builtFile } from './build.js';
import { ChildProgram, type Launch } from './child-program.js';
import { cpuTimeUs, residentBytes } from './proc.js';

const startedSchema = z.object({ url: z.string(), pid: z.int() });
const usageSchema = z.object({ cpuUs: z.number(), rssBytes: z.number() });

/** A measured server: where it listens, and what it has used. */
export class MeasuredServer implements AsyncDisposable {
  private constructor(
    readonly program: ChildProgram,
    readonly url: string,
    private readonly pid: number,
  ) {}

  static async start(
    program: string,
    launch: Launch = {},
    args: readonly string[] = [],
  ): Promise<MeasuredServer> {
    const child = await ChildProgram.start(builtFile(program), launch, args);
    const { url, pid } = startedSchema.parse(child.started);
    return new MeasuredServer(child.program, url, pid);
  }

  /** CPU time used so far, all threads, in microseconds. */
  async cpuUs(): Promise<number> {
    return cpuTimeUs(this.pid) ?? (await this.program.ask('usage', {}, usageSchema)).cpuUs;
  }

  /** Resident memory, in bytes, after a full collection where the server is Node. */
  async collectedBytes(): Promise<number> {
    await this.program.ask('collect', {}, z.unknown());
    return residentBytes(this.pid, 'VmRSS') ?? (await this.program.ask('usage', {}, usageSchema)).rssBytes;
  }

  /** Most resident memory so far, in bytes. */
  async peakBytes(): Promise<number> {
    return residentBytes(this.pid, 'VmHWM') ?? this.program.ask('peak', {}, z.number());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program[Symbol.asyncDispose]();
  }
}
