import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Builds the packages: what tests run as a process of its own is what users run, and starts in half the time. */
export function setup(): void {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const { status, stdout } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the packages cannot be built: ${stdout}`);
}
