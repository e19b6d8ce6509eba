import { createRequire } from 'node:module';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

/** Where figures come from: told beside them, since they mean little without it. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly system: string;
  readonly node: string;
}

/** This machine. */
export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    system: `${type()} ${release()}`,
    node: process.version,
  };
}

/** The version of an installed package, as a module in `from` finds it. */
export function versionOf(packageName: string, from: string | URL): string {
  const require = createRequire(from);
  for (const folder of require.resolve.paths(packageName) ?? []) {
    try {
      const manifest = require(`${folder}/${packageName}/package.json`) as { version: string };
      return manifest.version;
    } catch {
      // not in this folder: the next one up
    }
  }
  return 'not installed';
}
