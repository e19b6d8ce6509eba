import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const startedSchema = z.object({ url: z.string(), token: z.string().optional() });
const cpuSchema = z.object({ cpu: z.object({ user: z.number(), system: z.number() }) });
const heapSchema = z.object({ heap: z.object({ heapUsed: z.number(), rss: z.number() }) });
const countsSchema = z.object({ counts: z.record(z.string(), z.number()) });

/** A measured process: where it listens, and what it has used. */
export class Target implements Disposable {
  private constructor(
    readonly name: string,
    readonly url: string,
    readonly token: string | undefined,
    private readonly child: ChildProcess,
  ) {}

  static async start(name: 'floor' | 'hub'): Promise<Target> {
    const file = fileURLToPath(new URL(`${name}.ts`, import.meta.url));
    const instruments = new URL('instruments.ts', import.meta.url).href;
    // the packages as they were built: what a source loader adds to functions would be measured too
    const child = fork(file, [], { execArgv: ['--expose-gc', '--import', 'tsx', '--import', instruments] });
    const { url, token } = startedSchema.parse((await once(child, 'message'))[0]);
    return new Target(name, url, token, child);
  }

  /** CPU time used so far, in microseconds. */
  async cpu(): Promise<number> {
    const { cpu } = cpuSchema.parse(await this.#ask('cpu'));
    return cpu.user + cpu.system;
  }

  /** Heap after a full collection, and resident memory, in bytes. */
  async heap(): Promise<{ heapUsed: number; rss: number }> {
    return heapSchema.parse(await this.#ask('heap')).heap;
  }

  /** What the hub holds. */
  async counts(): Promise<Record<string, number>> {
    return countsSchema.parse(await this.#ask('counts')).counts;
  }

  async #ask(question: string): Promise<unknown> {
    const answer = once(this.child, 'message');
    this.child.send(question);
    return (await answer)[0];
  }

  [Symbol.dispose](): void {
    this.child.kill();
  }
}
