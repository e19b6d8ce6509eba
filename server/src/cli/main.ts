import type { Writable } from 'node:stream';
import { exitCodes } from './exit-codes.js';
import { Output } from './output.js';
import { runCommand } from './program.js';

/** Waits until what was written has left the process; a stream that nobody reads any more has nothing to wait for. */
async function flushed(stream: Writable): Promise<void> {
  if (stream.writableLength === 0) return;
  await new Promise<void>((resolve) => stream.write('', () => resolve()));
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => process.exit(exitCodes.failed)); // such as EPIPE: `remotes-hub list | head -1`
}

const exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  output: new Output(process.stdout, process.stderr),
  stdin: process.stdin,
  prompt: (text) => process.stderr.write(text),
  exitNow: (code) => process.exit(code),
});
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
process.exit(exitCode); // a served module may have left timers behind
