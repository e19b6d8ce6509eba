import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../scripts/benchmark/ports.js';

const PATIENCE_MS = 10_000;
const STEP_MS = 20;

const places = [
  process.env['HAPROXY'],
  ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'haproxy')),
  '/usr/sbin/haproxy', // where Debian has it, and not everybody's PATH
];

/** The system's HAProxy, or `undefined` when there is none. The variable HAPROXY names another. */
export const balancerPath = places.find((place) => place !== undefined && existsSync(place));

/** What the title of a skipped test says. */
export const balancerNote = balancerPath === undefined ? ' (skipped: haproxy is not installed)' : '';

/** The configuration that docker-compose.yml mounts. */
export const balancerFile = fileURLToPath(new URL('../../deploy/haproxy.cfg', import.meta.url));

/** What its variables are for nodes on this machine. @param nodes `host:port` of each */
export function balancerVariables(port: number, [one = '', other = '']: readonly string[]) {
  return { BALANCER_BIND: `127.0.0.1:${port}`, BALANCER_MAX_CONNECTIONS: '500', HUB_1: one, HUB_2: other };
}

/** HAProxy with the configuration of docker-compose.yml, on a free port of 127.0.0.1. */
export class Balancer implements AsyncDisposable {
  /** What it logged. */
  log = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(
    readonly port: number,
    nodes: readonly string[],
  ) {
    if (balancerPath === undefined) throw new Error('haproxy is not installed');
    const env = { PATH: process.env['PATH'], ...balancerVariables(port, nodes) };
    this.#child = spawn(balancerPath, ['-db', '-f', balancerFile], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = once(this.#child, 'close');
    for (const output of [this.#child.stdout, this.#child.stderr])
      output?.setEncoding('utf8').on('data', (text: string) => (this.log += text));
  }

  /** Starts it, and waits until it passes requests on. @param nodes `http://host:port` of two */
  static async start(nodes: readonly string[]): Promise<Balancer> {
    const balancer = new Balancer(
      await freePort(),
      nodes.map((url) => new URL(url).host),
    );
    try {
      await balancer.until(200);
      return balancer;
    } catch (error) {
      await balancer[Symbol.asyncDispose]();
      throw error;
    }
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Waits until `/readyz` through it has this status: that of a node, or 503 when no node is ready. */
  async until(status: number): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while ((await this.#status()) !== status) {
      if (performance.now() > deadline || this.#child.exitCode !== null)
        throw new Error(`haproxy does not answer ${status}: ${this.log}`);
      await delay(STEP_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** `undefined` when it is not answered. */
  async #status(): Promise<number | undefined> {
    try {
      return (await fetch(`${this.url}/readyz`)).status;
    } catch {
      return undefined;
    }
  }
}
