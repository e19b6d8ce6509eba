import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';
import { logIn, lost, serve, start } from '../calls/resuming-fixtures.js';

test('REMOTE-14: without an instanceId resumeMs has no effect, and with remotes.v1 a warning says so', async () => {
  await using hub = await startTestHub();
  const plain = await hub.connect();
  const { session } = await logIn(hub, { instanceId: undefined });
  expect(await serve(plain, 'plain', 5_000)).toEqual({
    message: 'remote connected',
    remotename: 'plain',
    nonce: 't1',
  });
  expect(await serve(session, 'none', 0)).not.toHaveProperty('warnings');
  expect(await serve(session, 'x', 5_000)).toMatchObject({
    warnings: ['resumeMs has no effect: this session gave no instanceId'],
  });
  const { reply } = await start(plain, session);
  session.socket.terminate();
  expect(await reply).toMatchObject(lost);
});

test.each([-1, 30_001, 1.5, '5', null])(
  'REMOTE-14: resumeMs %j is refused, and nothing is stored',
  async (resumeMs) => {
    await using hub = await startTestHub();
    const { session } = await logIn(hub);
    const reply = await session.request('remote-connect', { remotename: 'x', tools: [], resumeMs });
    expect(reply).toMatchObject({ code: 'invalid-body' });
    expect(reply['error']).toMatch(/^body\.resumeMs: /u);
    expect(await session.remotes()).toEqual([]);
  },
);
