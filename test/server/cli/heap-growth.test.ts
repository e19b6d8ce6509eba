import { connect } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import { CommandProcess, temporaryFolder } from './run-command.js';

const CALLS = 40;

/** Tells of collections; after the first, V8 bounds the heap by what is alive in it. */
const tracing = `
import { setFlagsFromString } from 'node:v8';
setFlagsFromString('--trace-gc');
setFlagsFromString('--expose-gc');
const { runInNewContext } = await import('node:vm');
setTimeout(runInNewContext('gc'), 1500);
`;

test('start: large messages do not make the hub look through its whole heap again and again', async () => {
  using folder = temporaryFolder();
  const env = { NODE_OPTIONS: `--import=${folder.write('trace.mjs', tracing)}` };
  await using hub = new CommandProcess(['start', '--port', '0'], env);
  await hub.output(/npx remotes-hub list/);
  await hub.output(/Mark-Compact/);
  const [, url = '', token = ''] = /URL=(\S+)[^]*TOKEN=(\S+)/.exec(hub.stderr) ?? [];
  await using session = await connect(`${url.replace('http', 'ws')}/ws`, { token, reconnect: false });
  await session.serve('files', { echo: { handler: ({ text }) => text } });
  const text = 'a line of text\n'.repeat(65_000);
  const before = fullCollections(hub.stdout);
  for (let call = 0; call < CALLS; call += 1) {
    expect(await session.call('files', 'echo', { text })).toBe(text);
  }
  // Node 24 makes one for every four calls where nothing is done about it; Node 20 after a while
  expect(fullCollections(hub.stdout) - before).toBeLessThan(CALLS / 8);
});

function fullCollections(output: string): number {
  return output.match(/Mark-Compact/gu)?.length ?? 0;
}
