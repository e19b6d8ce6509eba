import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

const folder = fileURLToPath(new URL('.', import.meta.url));

/**
 * Makes plain JavaScript of the programs that are measured, each one file that imports its packages: a loader of
 * sources in a measured process would be measured too. Programs of peers stay beside the packages of peers.
 * @param programs such as `servers/floor`, relative to this folder
 */
export async function buildPrograms(programs: readonly string[]): Promise<void> {
  const entryPoints = [...new Set(programs)].map((program) => ({
    in: join(folder, `${program}.ts`),
    out: outputOf(program).replace(/\.mjs$/, ''),
  }));
  await build({
    entryPoints,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  });
  await stop(); // its process would be there while others are measured
}

/** The file that a program was built to. */
export function builtFile(program: string): string {
  return join(folder, outputOf(program));
}

function outputOf(program: string): string {
  return program.startsWith('peers/')
    ? program.replace('peers/', 'peers/.build/') + '.mjs'
    : `.build/${program}.mjs`;
}
