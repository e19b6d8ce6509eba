import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';

const call = (nonce: unknown, more: object = {}): object => ({
  action: 'remote-call',
  nonce,
  body: { remotename: 'x', function: 'f', ...more },
});

test('CALL-20: progress reaches a caller with remotes.v1 whose call has a nonce, and no other', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect({ v1: true });
  const [v1, plain, witness] = [
    await hub.connect({ v1: true }),
    await hub.connect(),
    await hub.connect({ v1: true }),
  ];
  await server.serve('x', ['f']);
  v1.send(call({ my: 'nonce' }));
  v1.send({ action: 'remote-call', body: { remotename: 'x', function: 'f' } });
  plain.send(call('plain'));
  const ids: unknown[] = [];
  for (let n = 0; n < 3; n += 1) ids.push((await server.next('remote-call'))['requestId']);

  for (const requestId of ids) {
    for (const progress of [0, null, { done: 1 }])
      server.send({ action: 'remote-call-progress', requestId, progress });
    server.send({ action: 'remote-call-progress', requestId });
    server.send({ action: 'remote-call-result', requestId, result: 'done' });
  }
  await v1.reply({ my: 'nonce' });
  expect(await plain.reply('plain')).toMatchObject({ result: 'done' });
  await Promise.all([v1, plain, witness].map(async (session) => session.settle()));
  expect(v1.others).toEqual([
    ...[0, null, { done: 1 }, null].map((progress) => ({
      action: 'remote-call-progress',
      nonce: { my: 'nonce' },
      progress,
    })),
    { result: 'done' },
  ]);
  expect([plain.others, witness.others]).toEqual([[], []]);
});

test('CALL-20: progress of a call never follows the reply to it', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect({ v1: true });
  const tools = [{ name: 'f', result: { type: 'number' } }];
  await session.request('remote-connect', { remotename: 'x', tools });
  session.send(call('c'));
  const { requestId } = await session.next('remote-call');
  const before = session.frames.length;

  const progress = (n: number): object => ({ action: 'remote-call-progress', requestId, progress: n });
  session.sendTogether(
    progress(1),
    progress(2),
    { action: 'remote-call-result', requestId, result: 3 },
    progress(4),
  );
  await session.reply('c');
  await session.settle();
  const seen = session.frames.slice(before, -1).map((frame) => JSON.parse(frame) as Record<string, unknown>);
  expect(seen.map((message) => message['progress'] ?? message['result'])).toEqual([1, 2, 3]);
});
