import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { createHub, createLogger, type HubConfigInput, type HubOptions } from '@remotes-hub/server';
import { Output } from '../../../server/src/cli/output.js';
import { runCommand } from '../../../server/src/cli/program.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const command = join(root, 'server/bin/remotes-hub.js');

type Environment = Readonly<Record<string, string>>;

/** How a command ended. */
export interface Ending {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process: all of it but the process around it. */
export async function run(args: readonly string[], env: Environment = {}, stdin = ''): Promise<Ending> {
  let stdout = '';
  let stderr = '';
  const exitCode = await runCommand(args, {
    env,
    output: new Output({ write: (text) => (stdout += text) }, { write: (text) => (stderr += text) }),
    stdin: Readable.from([Buffer.from(stdin)]),
    prompt: (text) => (stderr += text),
    exitNow: () => undefined,
  });
  return { exitCode, stdout, stderr };
}

/** A command in a process of its own. */
export class CommandProcess implements AsyncDisposable {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  readonly #ending: Promise<Ending>;
  #changed: () => void = () => undefined;

  /** @param stdout a file descriptor in place of what {@link CommandProcess.stdout} keeps */
  constructor(args: readonly string[], env: Environment = {}, stdout: 'pipe' | number = 'pipe') {
    this.#child = spawn(process.execPath, [command, ...args], {
      cwd: root,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['pipe', stdout, 'pipe'],
    });
    this.#child.stdout
      ?.setEncoding('utf8')
      .on('data', (text: string) => this.#grow(() => (this.stdout += text)));
    this.#child.stderr
      ?.setEncoding('utf8')
      .on('data', (text: string) => this.#grow(() => (this.stderr += text)));
    this.#ending = once(this.#child, 'close').then(() => {
      this.#changed();
      return { exitCode: this.#child.exitCode, stdout: this.stdout, stderr: this.stderr };
    });
  }

  /** Waits until the command has written something that matches. */
  async output(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
      if (match !== null) return match;
      if (this.#child.exitCode !== null)
        throw new Error(`ended without ${String(pattern)}: ${this.stdout}${this.stderr}`);
      await new Promise<void>((resolve) => (this.#changed = resolve));
    }
  }

  /** Sends a signal, and waits for the end. */
  async stop(signal: 'SIGINT' | 'SIGTERM'): Promise<Ending> {
    this.#child.kill(signal);
    return this.#ending;
  }

  signal(signal: 'SIGINT' | 'SIGTERM'): void {
    this.#child.kill(signal);
  }

  /** How it ends by itself. */
  ended(): Promise<Ending> {
    return this.#ending;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ending;
  }

  #grow(append: () => void): void {
    append();
    this.#changed();
  }
}

/** A hub in this process, and the environment of a command that is to reach it. */
export async function startHub(config: HubConfigInput = {}, options: HubOptions = {}) {
  const secret = 'a secret of thirty-two bytes, ok';
  const hub = createHub({
    config: { ...config, auth: { secret, ...config.auth } },
    log: createLogger('silent'),
    ...options,
  });
  const { url } = await hub.listen({ host: '127.0.0.1', port: 0 });
  const { token } = await hub.issueToken('ada', 60_000);
  return {
    hub,
    url,
    secret,
    env: { REMOTES_HUB_URL: url, REMOTES_HUB_TOKEN: token },
    [Symbol.asyncDispose]: () => hub.close(),
  };
}

/** A folder of its own for files. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'remotes-hub-cli-'));
  return {
    path,
    write: (name: string, content: string) => {
      writeFileSync(join(path, name), content);
      return join(path, name);
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  };
}
