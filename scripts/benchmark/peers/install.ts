import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Target } from '../targets.js';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** The peers that can be measured here, and why the others cannot. */
export interface AvailablePeers {
  readonly available: readonly Target[];
  /** Sentences without a full stop. */
  readonly missing: readonly string[];
}

/** Installs the packages of the lock file, unless they are there already. */
export function installPeers(peers: readonly Target[]): AvailablePeers {
  if (peers.length === 0) return { available: [], missing: [] };
  if (!isInstalled()) {
    console.error('Installing the peers (npm ci in scripts/benchmark/peers) ...');
    const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      stdio: ['ignore', process.stderr, process.stderr],
    });
    if (status !== 0) return { available: [], missing: ['peers: not here, they could not be installed'] };
  }
  const hasNats = spawnSync('nats-server', ['--version']).status === 0;
  return {
    available: peers.filter(({ name }) => name !== 'nats' || hasNats),
    missing:
      peers.some(({ name }) => name === 'nats') && !hasNats
        ? ['NATS: not here, there is no nats-server in PATH (Debian: apt-get install nats-server)']
        : [],
  };
}

/** npm keeps a copy of what it installed; an older one than the lock file is out of date. */
function isInstalled(): boolean {
  const installed = `${folder}node_modules/.package-lock.json`;
  return (
    existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${folder}package-lock.json`).mtimeMs
  );
}

/** The version of the `nats-server` in PATH. */
export function natsVersion(): string {
  return spawnSync('nats-server', ['--version'], { encoding: 'utf8' }).stdout.trim().replace(/^.*v/, '');
}
