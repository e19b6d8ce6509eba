import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { onOneNode, startTestHub } from '../../support/hub.js';
import type { Message } from '../../support/session.js';

test('CALL-27: the error reply of every call that was forwarded has its requestId', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const [server, caller] = [await hub.connect({ v1: true }), await hub.connect()];
  const tools = [{ name: 'f' }, { name: 'checked', result: { type: 'string' } }];
  await server.request('remote-connect', { remotename: 'x', tools });
  const failed = async (name: string, end: (requestId: unknown) => unknown): Promise<Message> => {
    caller.send({ action: 'remote-call', nonce: 'c', body: { remotename: 'x', function: name } });
    const { requestId } = await server.next('remote-call');
    await end(requestId);
    const reply = await caller.reply('c');
    expect(reply).toMatchObject({ requestId, nonce: 'c' });
    return reply;
  };
  const answer = (requestId: unknown, fields: object): void =>
    server.send({ action: 'remote-call-result', requestId, ...fields });

  const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
  const replies = [
    await failed('f', (requestId) => answer(requestId, { error: 'e' })),
    await failed('f', (requestId) => answer(requestId, { error: 'e', executed: 'no' })),
    await failed('checked', (requestId) => answer(requestId, { result: 1 })),
    await failed('f', (requestId) =>
      server.send(`{"action":"remote-call-result","requestId":"${String(requestId)}","result":${deep}}`),
    ),
    await failed('f', async () => clock.advance(30_000)),
    await failed('f', () => caller.send({ action: 'remote-call-cancel', body: { nonce: 'c' } })),
    await failed('f', () => server.send({ action: 'remote-disconnect', body: { remotename: 'x' } })),
  ];
  expect(replies.map(({ code, requestId }) => [code, requestId])).toEqual([
    ['function-failed', 'x#0'],
    ['function-failed', 'x#1'],
    ['invalid-result', 'x#2'],
    ['invalid-result', 'x#3'],
    ['call-timeout', 'x#4'],
    ['call-cancelled', 'x#5'],
    ['remote-disconnected', 'x#6'],
  ]);
});

// on two nodes: which of two callers is first is not certain when one is on another node
onOneNode('CALL-27: a call that was not forwarded, another request and a result have none', async () => {
  await using hub = await startTestHub({ limits: { maxCallsInFlight: 1 } });
  const [server, caller] = [await hub.connect(), await hub.connect()];
  const parameters = { type: 'object', required: ['a'] };
  await server.request('remote-connect', {
    remotename: 'x',
    tools: [{ name: 'f' }, { name: 'g', parameters }],
  });
  const replies = [
    await caller.call('y', 'f'),
    await caller.call('x', 'h'),
    await caller.call('x', 'g'),
    await caller.call('x', ''),
    await caller.request('remote-disconnect', { remotename: 'y' }),
  ];
  caller.send({ action: 'remote-call', nonce: 'c', body: { remotename: 'x', function: 'f' } });
  replies.push(await server.call('x', 'f'));
  await server.answer(1);
  replies.push(await caller.reply('c'));
  expect(replies.map(({ code, result }) => code ?? result)).toEqual([
    'remote-not-connected',
    'function-not-found',
    'invalid-arguments',
    'invalid-body',
    'remote-not-connected',
    'too-many-calls',
    1,
  ]);
  expect(replies.filter((reply) => 'requestId' in reply)).toEqual([]);
});

// on two nodes: a remote of the host program is connected later, when the others have been asked
onOneNode('CALL-27: the host program is told as well, of functions of its own, too', async () => {
  await using hub = await startTestHub();
  const handler = (): never => {
    throw new Error('no luck');
  };
  hub.hub.connectRemote({ userId: 'u1', remotename: 'host', functions: [{ name: 'f', handler }] });
  const call = { userId: 'u1', remotename: 'host', function: 'f' };
  await expect(hub.hub.call(call)).rejects.toMatchObject({ code: 'function-failed', requestId: 'host#0' });
  const caller = await hub.connect();
  expect(await caller.call('host', 'f')).toMatchObject({ error: 'no luck', requestId: 'host#1' });
  await expect(hub.hub.call({ ...call, remotename: 'none' })).rejects.toMatchObject({ requestId: undefined });
});
