import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top folder of the repository. */
export const repository = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The blocks of a page that a test runs, by the name on their first line: `# run: name` in a shell block,
 * `// run: name` in a program.
 */
export function runnableBlocks(page: string): Map<string, string> {
  const text = readFileSync(join(repository, page), 'utf8');
  const blocks = new Map<string, string>();
  for (const [, body = ''] of text.matchAll(/^```\w+\n([\s\S]*?)^```$/gmu)) {
    const name = /^(?:#|\/\/) run: (.*)\n/u.exec(body)?.[1];
    if (name !== undefined) blocks.set(name, body);
  }
  return blocks;
}

/** A block of a page. @throws when the page has none of this name */
export function runnableBlock(page: string, name: string): string {
  const block = runnableBlocks(page).get(name);
  if (block === undefined) throw new Error(`${page} has no block "run: ${name}"`);
  return block;
}

/** What a command printed, and its exit code. */
export interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs shell lines as a reader would, at the top of the repository by default; the first failure ends them. */
export async function runShell(
  lines: string,
  env: Record<string, string> = {},
  folder = repository,
): Promise<Output> {
  const shell = startShell(lines, env, folder);
  await shell.ended;
  return shell.output();
}

/** A command that runs until it is stopped. */
export interface RunningShell extends AsyncDisposable {
  output(): Output;
  readonly ended: Promise<unknown>;
}

/** Starts shell lines in a process group of their own; disposing of it interrupts them all, as Ctrl-C does. */
export function startShell(
  lines: string,
  env: Record<string, string> = {},
  folder = repository,
): RunningShell {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', lines], {
    cwd: folder,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => void (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => void (output.stderr += chunk.toString()));
  const ended = once(child, 'close');
  return {
    output: () => ({ code: child.exitCode, ...output }),
    ended,
    [Symbol.asyncDispose]: async () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGINT');
      await ended;
    },
  };
}

/** Runs a program of a page with the built packages, as a user of them would. */
export async function runProgram(code: string, env: Record<string, string>): Promise<Output> {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, 'example.mts'), code);
  return await runShell('node --import tsx example.mts', env, folder.path);
}

/** A folder inside the repository, where the packages and their command are found, for what an example writes. */
export function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(repository, '.cache-example-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
