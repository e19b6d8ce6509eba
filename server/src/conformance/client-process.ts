import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { RunningClient, StartClient } from './client-under-test.js';

/** How much of what a client writes is kept. */
const MAX_OUTPUT = 2_000;

/** Starts a client as a command, with the hub in REMOTES_HUB_URL and REMOTES_HUB_TOKEN. */
export function clientCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): StartClient {
  return ({ url, token }) =>
    new ClientProcess(command, args, { ...env, REMOTES_HUB_URL: url, REMOTES_HUB_TOKEN: token });
}

/** A process group of its own, so that what the command has started ends with it. */
class ClientProcess implements RunningClient {
  output = '';
  ending: string | undefined;
  readonly #child: ReturnType<typeof spawn>;
  readonly #ended: Promise<unknown>;

  constructor(command: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>) {
    this.#child = spawn(command, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output = `${this.output}${text}`.slice(-MAX_OUTPUT);
      });
    }
    this.#child.on('exit', (code, signal) => {
      this.ending ??= `the end of the client (${code === null ? String(signal) : `exit code ${code}`})`;
    });
    this.#child.on('error', (error) => {
      this.ending ??= `a client that cannot be started: ${error.message}`;
    });
    this.#ended = once(this.#child, 'close').catch(() => undefined); // never started
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid } = this.#child;
    if (pid !== undefined) {
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        this.#child.kill('SIGKILL'); // the group is gone, or there are no groups here
      }
    }
    await this.#ended;
  }
}
