import { spawn, type ChildProcess } from 'node:child_process';

/**
 * Lets a child end with this process, however that ends, by a kill too: a shell waits for the end of a pipe that only this
 * process holds open. Keeps nothing alive.
 */
export function guard(child: ChildProcess): void {
  if (child.pid === undefined) return; // it could not be started
  const shell = spawn('sh', ['-c', `read _; kill -9 ${child.pid}`], { stdio: ['pipe', 'ignore', 'ignore'] });
  shell.unref();
  child.once('exit', () => shell.kill('SIGKILL'));
}
