// CONFORM-03
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { connect } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import { clientCommand } from '../../server/src/conformance/client-process.js';
import { startTestHub } from '../support/hub.js';
import { judgeClientByAll, notPassed } from './judging.js';

const program = fileURLToPath(new URL('python/conformance_client.py', import.meta.url));
const environment = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };

/** A Python that has the package; the system's may have it where another one comes first in PATH. */
const python = ['python3', '/usr/bin/python3'].find(
  (command) => spawnSync(command, ['-c', 'import websockets']).status === 0,
);
const note = python === undefined ? ' (skipped: python3-websockets is not installed)' : '';

test.skipIf(python === undefined)(
  `a client in Python, written from the specification alone, passes every rule for clients${note}`,
  { timeout: 180_000 },
  async () => {
    const outcomes = await judgeClientByAll(clientCommand(python ?? '', [program], environment));
    expect(notPassed(outcomes)).toEqual([]);
  },
);

test.skipIf(python === undefined)(`a client in Python serves and calls at this hub${note}`, async () => {
  await using hub = await startTestHub();
  const env = { ...environment, REMOTES_HUB_URL: hub.socketUrl, REMOTES_HUB_TOKEN: await hub.token() };
  await using session = await connect(hub.socketUrl, { token: await hub.token() });
  const served = new Promise<void>((resolve) => {
    session.on('remote-connected', ({ remotename }) => {
      if (remotename === 'conformance#1') resolve();
    });
  });
  const child = spawn(python ?? '', [program], { env, stdio: 'ignore' });
  const ended = once(child, 'close');
  try {
    await served;
    const value = ['Grüße', 0, null, { a: false }];
    expect(await session.call('conformance', 'echo', { value })).toEqual(value);
    expect(await session.call('conformance#1', 'name')).toBe('conformance#1');

    const args = { remotename: 'conformance#1', function: 'name', args: {} };
    expect(await session.call('conformance', 'call', args)).toBe('conformance#1');
    await expect(session.call('conformance', 'call', { ...args, function: 'nothing' })).rejects.toMatchObject(
      {
        code: 'function-failed',
        message: "remote 'conformance#1' has no function 'nothing'",
      },
    );

    const progress: unknown[] = [];
    const onProgress = (step: unknown): void => void progress.push(step);
    await session.call('conformance', 'progress', { steps: 3 }, { onProgress });
    expect(progress).toEqual([1, 2, 3]);

    const timeout = session.call('conformance', 'wait', { ms: 60_000 }, { timeoutMs: 100 });
    await expect(timeout).rejects.toMatchObject({ code: 'call-timeout' });
    expect(await session.call('conformance', 'waiting')).toBe(0);
  } finally {
    child.kill();
    await ended;
  }
});
