import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { guard } from './process-guard.js';
import { freePort } from '../../scripts/benchmark/ports.js';
import { redisCommand } from './redis-command.js';

const STARTS = 3;
const PATIENCE_MS = 15_000;
const STEP_MS = 5;

const places = [
  process.env['REDIS_SERVER'],
  ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'redis-server')),
];

/** The system's redis-server, or `undefined` when there is none. The variable REDIS_SERVER names another. */
export const redisPath = places.find((place) => place !== undefined && existsSync(place));

/** What the title of a skipped test says. */
export const redisNote = redisPath === undefined ? ' (skipped: redis-server is not installed)' : '';

/** How a server is started. */
export interface RedisOptions {
  /** Writes down every change at once, so that even a killed server has its data when it is back. @default false */
  readonly appendOnly?: boolean;
  /** Further arguments of redis-server. @default none */
  readonly more?: readonly string[];
}

/** A redis-server of a test's own, on a free port of 127.0.0.1 and with its files in a temporary folder. */
export class RedisServer implements AsyncDisposable {
  readonly port: number;
  #child: ChildProcess | undefined;

  private constructor(
    private readonly folder: string,
    private readonly options: RedisOptions,
    port: number,
  ) {
    this.port = port;
  }

  /** Starts a server, and waits until it answers. */
  static async start(options: RedisOptions = {}): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'remotes-hub-redis-'));
    for (let start = 1; ; start += 1) {
      const server = new RedisServer(folder, options, await freePort());
      try {
        await server.#launch();
        return server;
      } catch (error) {
        await server.kill();
        // somebody else may have taken the port since it was free
        if (start < STARTS) continue;
        await server[Symbol.asyncDispose]();
        throw error;
      }
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Sends a command, and gives the raw reply. @throws the server is away or refuses */
  async command(command: string): Promise<string> {
    return redisCommand(this.port, command);
  }

  /** Ends it at once, without a chance to write anything (SIGKILL). */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Ends it in order (SIGTERM): its clients see their connections close. */
  async stop(): Promise<void> {
    this.resume();
    await this.#end('SIGTERM');
  }

  /** Lets it hang (SIGSTOP): connections stay, and nothing is answered. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  /** Lets it go on after a pause (SIGCONT). */
  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Starts it on the same port, ending it first when it runs. @param keepData as it was, or empty */
  async restart({ keepData }: { readonly keepData: boolean }): Promise<void> {
    if (keepData) {
      await this.#save();
      await this.stop();
    } else {
      await this.kill();
      await this.#forget();
    }
    await this.#launch();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  get #log(): string {
    return join(this.folder, 'redis.log');
  }

  get #isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async #launch(): Promise<void> {
    if (redisPath === undefined) throw new Error('redis-server is not installed');
    const { appendOnly = false, more = [] } = this.options;
    const settings = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder];
    settings.push('--logfile', this.#log, '--save', '', '--appendonly', appendOnly ? 'yes' : 'no', ...more);
    this.#child = spawn(redisPath, settings, { stdio: 'ignore' });
    guard(this.#child);
    await this.#answering(this.#child);
  }

  async #answering({ pid }: ChildProcess): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (this.#isRunning && performance.now() < deadline) {
      if (await this.#isAnswering(pid)) return;
      await delay(STEP_MS);
    }
    throw new Error(`redis-server does not answer: ${await readFile(this.#log, 'utf8').catch(String)}`);
  }

  /** Whether it has its data, and is not another one on the same port. */
  async #isAnswering(pid: number | undefined): Promise<boolean> {
    try {
      await this.command('PING');
      return (await this.command('INFO server')).includes(`process_id:${pid}\r\n`);
    } catch {
      return false;
    }
  }

  async #save(): Promise<void> {
    if (this.#isRunning && this.options.appendOnly !== true) await this.command('SAVE');
  }

  async #forget(): Promise<void> {
    for (const name of ['dump.rdb', 'appendonlydir'])
      await rm(join(this.folder, name), { recursive: true, force: true });
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.#isRunning) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
}
