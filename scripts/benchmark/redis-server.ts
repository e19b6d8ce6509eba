import { spawnSync } from 'node:child_process';
import { versionOf } from './machine.js';
import type { NodeTarget } from './targets.js';

/** What can be measured across nodes here, and why the rest cannot. */
export interface AvailableNodes {
  readonly available: readonly NodeTarget[];
  readonly versions: Readonly<Record<string, string>>;
  /** Sentences without a full stop. */
  readonly missing: readonly string[];
}

/** Calls across nodes need the `redis-server` in PATH. */
export function findRedis(targets: readonly NodeTarget[]): AvailableNodes {
  if (targets.length === 0) return { available: [], versions: {}, missing: [] };
  const { status, stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  if (status === 0)
    return {
      available: targets,
      versions: {
        ioredis: versionOf('ioredis', import.meta.url),
        'redis-server': /\bv=(\S+)/.exec(stdout)?.[1] ?? 'unknown',
      },
      missing: [],
    };
  const missing =
    'calls across nodes: not measured, there is no redis-server in PATH (Debian: apt-get install redis-server)';
  return { available: [], versions: {}, missing: [missing] };
}
