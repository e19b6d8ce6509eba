import { expect, test } from 'vitest';
import { startTestHub, type TestHub } from '../../support/hub.js';
import type { TestSession } from '../../support/session.js';

interface Pair {
  readonly server: TestSession;
  readonly caller: TestSession;
}

async function pairOf(hub: TestHub): Promise<Pair> {
  const server = await hub.connect();
  const caller = await hub.connect();
  await server.serve('x', ['f']);
  return { server, caller };
}

test('K030: the first answer counts, and unknown ids are ignored without a reply', async () => {
  await using hub = await startTestHub();
  const { server, caller } = await pairOf(hub);
  const answer = (requestId: unknown, result: unknown): object => ({
    action: 'remote-call-result',
    nonce: 'never answered',
    requestId,
    result,
  });
  const ignoredBefore = hub.hub.counts().ignoredMessages;

  const reply = caller.call('x', 'f');
  await server.next('remote-call');
  const strangers = [
    'x#999',
    'nope',
    '',
    0,
    null,
    undefined,
    ['x#0'],
    { toString: 'x#0' },
    'X#0',
    'x#00',
    ' x#0',
  ];
  for (const id of strangers) server.send(answer(id, 'wrong'));
  server.sendTogether(answer('x#0', 1), answer('x#0', 2), { ...answer('x#0', 3), error: 'late' });
  expect(await reply).toMatchObject({ result: 1 });
  await server.settle();
  await caller.settle();
  expect([server, caller].flatMap(({ replies, others }) => [...replies, ...others])).toEqual([]);
  expect(hub.hub.counts().ignoredMessages - ignoredBefore).toBe(strangers.length + 2);
  expect(hub.logs.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

test('K031: only the session that was asked can answer, of the same user as of another', async () => {
  await using hub = await startTestHub();
  const { server, caller } = await pairOf(hub);
  const sibling = await hub.connect();
  const stranger = await hub.connect({ user: 'u2' });
  await sibling.serve('y', ['f']);
  await stranger.serve('x', ['f']);

  const reply = caller.call('x', 'f');
  const { requestId } = await server.next('remote-call');
  for (const spoofer of [sibling, stranger, caller]) {
    spoofer.send({ action: 'remote-call-result', requestId, result: 'spoof' });
    spoofer.send({ action: 'remote-call-result', requestId, error: 'spoof' });
    spoofer.send({ action: 'remote-call-progress', requestId, progress: 'spoof' });
    await spoofer.settle();
  }
  expect(caller.replies).toEqual([]);
  server.send({ action: 'remote-call-result', requestId, result: 'real' });
  expect(await reply).toMatchObject({ result: 'real' });
});

test('K033: a late answer to a call from before a reconnection never settles a newer call', async () => {
  await using hub = await startTestHub();
  const { server, caller } = await pairOf(hub);

  const first = caller.call('x', 'f');
  const old = await server.next('remote-call');
  await server.request('remote-disconnect', { remotename: 'x' });
  expect(await first).toMatchObject({ code: 'remote-disconnected', executed: 'unknown' });
  await server.serve('x', ['f']);
  const second = caller.call('x', 'f');
  const young = await server.next('remote-call');
  expect(young['requestId']).not.toBe(old['requestId']);
  server.send({ action: 'remote-call-result', requestId: old['requestId'], result: 'old' });
  server.send({ action: 'remote-call-result', requestId: young['requestId'], result: 'new' });
  expect(await second).toMatchObject({ result: 'new' });
});

test('K048: a result above the frame limit fails its call, and the other calls of that session, at once', async () => {
  await using hub = await startTestHub();
  const { server, caller } = await pairOf(hub);
  await server.serve('z', ['f']);

  const pending = [caller.call('x', 'f'), caller.call('z', 'f')];
  const { requestId } = await server.next('remote-call');
  const fields = { action: 'remote-call-result', requestId };
  const room = 4_194_304 - JSON.stringify({ ...fields, result: '' }).length;
  server.send({ ...fields, result: 'x'.repeat(room + 1) });
  for (const [n, reply] of (await Promise.all(pending)).entries()) {
    const remotename = ['x', 'z'][n];
    expect(reply).toMatchObject({
      error: `remote '${remotename}' disconnected before it answered: it sent a message larger than the hub takes`,
      code: 'remote-disconnected',
      executed: 'unknown',
      retryable: false,
    });
  }
  expect((await server.end()).code).toBe(1009);
  await caller.settle();
  expect(hub.hub.counts()).toMatchObject({ sessions: 1, remotes: 0, pendingCalls: 0 });
});

test('K048: a result that just fits the frame limit arrives whole', async () => {
  await using hub = await startTestHub();
  const { server, caller } = await pairOf(hub);

  const reply = caller.call('x', 'f');
  const { requestId } = await server.next('remote-call');
  const fields = { action: 'remote-call-result', requestId };
  const room = 4_194_304 - JSON.stringify({ ...fields, result: '' }).length;
  server.send({ ...fields, result: 'x'.repeat(room) });
  expect(String((await reply)['result'])).toHaveLength(room);
  expect(server.isOpen).toBe(true);
});
