import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SignJWT } from 'jose';
import type { HubConfigInput } from '@remotes-hub/server';
import { TEST_SECRET } from './hub.js';
import { isJson } from './json.js';
import { guard } from './process-guard.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const command = join(root, 'server/bin/remotes-hub.js');

const PATIENCE_MS = 20_000;
const STEP_MS = 20;

/** One line of a hub's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** How a hub process is started. */
export interface HubProcessOptions {
  /** As in a configuration file. `auth.secret` is that of the tests when it is absent. @default {} */
  readonly config?: HubConfigInput;
}

/**
 * A hub in a process of its own, through the real command `remotes-hub start`, on 127.0.0.1: for what only a process
 * can suffer. After its end it can be started again, on the same port.
 */
export class HubProcess implements AsyncDisposable {
  /** The log, of all its lives. */
  readonly lines: LogLine[] = [];
  /** What it wrote to standard error, of all its lives. */
  stderr = '';
  #port = 0;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly folder: string,
    private readonly config: HubConfigInput,
  ) {}

  /** Starts a hub, and waits until it listens. @throws it ended before, with what it wrote */
  static async start({ config = {} }: HubProcessOptions = {}): Promise<HubProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'remotes-hub-process-'));
    const auth = { secret: TEST_SECRET, ...config.auth };
    const hub = new HubProcess(folder, { host: '127.0.0.1', ...config, auth });
    try {
      await hub.#launch();
      return hub;
    } catch (error) {
      await hub[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** `http://127.0.0.1:PORT` */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** `ws://127.0.0.1:PORT/ws` */
  get socketUrl(): string {
    return `ws://127.0.0.1:${this.#port}${this.config.path ?? '/ws'}`;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** What `/readyz` says; `false` too when it does not answer within so many milliseconds. */
  async isReady(timeoutMs = 1_000): Promise<boolean> {
    try {
      const { status } = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(timeoutMs) });
      return status === 200;
    } catch {
      return false;
    }
  }

  /** Waits until `/readyz` says so: it listens, and has joined the other nodes. @throws it does not within 20 s */
  async untilReady(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!(await this.isReady())) {
      if (performance.now() > deadline) throw new Error(`${this.url} does not get ready: ${this.stderr}`);
      await delay(STEP_MS);
    }
  }

  /** A token of a user, valid for an hour. */
  async token(user = 'u1'): Promise<string> {
    const { issuer, audience, secret = TEST_SECRET } = this.config.auth ?? {};
    const token = new SignJWT({ sub: user }).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('1h');
    if (issuer !== undefined) token.setIssuer(issuer);
    if (audience !== undefined) token.setAudience(audience);
    return token.sign(new TextEncoder().encode(secret));
  }

  /** Sends a signal that ends it, and waits for the end. Harmless when it has ended. */
  async kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT' = 'SIGKILL'): Promise<void> {
    this.#child?.kill(signal);
    await this.#ended;
  }

  /** Lets it hang (SIGSTOP): its connections stay, and it does nothing. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  /** Lets it go on after a pause (SIGCONT). */
  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Starts it on the same port, killing it first when it runs. */
  async restart(): Promise<void> {
    await this.kill();
    await this.#launch();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #launch(): Promise<void> {
    const file = join(this.folder, 'hub.json');
    await writeFile(file, JSON.stringify({ ...this.config, port: this.#port || (this.config.port ?? 0) }));
    const args = [command, 'start', '--config', file];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    guard(child);
    this.#child = child;
    this.#ended = once(child, 'close');
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (text) => {
        if (!isJson(text)) return; // a kill has cut it off
        const line = JSON.parse(text) as LogLine;
        this.lines.push(line);
        if (line['msg'] !== 'listening') return;
        this.#port = Number(line['port']);
        resolve();
      });
      child.once('close', () => reject(new Error(`the hub ended before it listened: ${this.stderr}`)));
    });
  }
}
