import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository, temporaryFolder } from '../../support/documentation.js';

const compiler = join(repository, 'node_modules/typescript/bin/tsc');

const options = {
  module: 'nodenext',
  target: 'es2023',
  lib: ['es2023', 'dom'],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
  customConditions: ['hub-source'],
};

/**
 * Compiles modules, each by itself, in one run of the compiler: it takes a second however many there are.
 * @returns what is wrong, a line each, beginning with the module's name
 */
export async function compile(modules: Readonly<Record<string, string>>): Promise<string[]> {
  using folder = temporaryFolder();
  const write = (name: string, text: string): void => writeFileSync(join(folder.path, name), text);
  for (const [name, text] of Object.entries(modules)) write(`${name}.ts`, text);
  write('package.json', '{"type":"module"}');
  const files = Object.keys(modules).map((name) => `${name}.ts`);
  write('tsconfig.json', JSON.stringify({ compilerOptions: options, files }));
  const child = spawn(process.execPath, [compiler, '--pretty', 'false', '-p', '.'], { cwd: folder.path });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  await once(child, 'close');
  return output.split('\n').filter((line) => line.trim() !== '');
}
