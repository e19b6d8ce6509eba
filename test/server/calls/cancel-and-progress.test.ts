import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { startTestHub } from '../../support/hub.js';

const cancelled = {
  error: 'the call was cancelled',
  code: 'call-cancelled',
  executed: 'unknown',
  retryable: false,
};
const call = (nonce: unknown, more: object = {}): object => ({
  action: 'remote-call',
  nonce,
  body: { remotename: 'x', function: 'f', ...more },
});

test('CALL-18: a cancel ends the calls with that nonce, answers each, and then tells how many', async () => {
  await using hub = await startTestHub();
  const [server, caller] = [await hub.connect(), await hub.connect()];
  await server.serve('x', ['f']);
  for (const nonce of ['a', 'b', 'a']) caller.send(call(nonce));
  for (let n = 0; n < 3; n += 1) await server.next('remote-call');
  const before = caller.frames.length;

  caller.send({ action: 'remote-call-cancel', nonce: 'x1', body: { nonce: 'a' } });
  expect(await caller.reply('x1')).toEqual({ message: 'remote calls cancelled', cancelled: 2, nonce: 'x1' });
  expect(caller.frames.slice(before, -1)).toEqual(
    Array.from({ length: 2 }, () => JSON.stringify({ ...cancelled, nonce: 'a' })),
  );
  server.send({ action: 'remote-call-result', requestId: 'x#0', result: 'late' });
  server.send({ action: 'remote-call-result', requestId: 'x#1', result: 'b' });
  await caller.reply('b');
  expect(await caller.request('remote-call-cancel', { nonce: 'a' })).toMatchObject({ cancelled: 0 });
  expect(hub.hub.counts().pendingCalls).toBe(0);
});

test.each([
  ['"abc"', '"\\u0061bc"'],
  ['"\\/"', '"/"'],
  ['{"a": [1 ,2]}', '{"a":[1,2]}'],
  ['1.0', '1'],
  ['null', ' null'],
  ['"é"', '"\\u00e9"'],
  ['{"a":1,"b":[-0]}', '{"b":[0],"a":1}'],
])('CALL-18: the nonce %s is cancelled by %s: it is compared as a value', async (sent, named) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  await session.serve('x', ['f']);

  session.send(`{"action":"remote-call","nonce":${sent},"body":{"remotename":"x","function":"f"}}`);
  await session.next('remote-call');
  session.send(`{"action":"remote-call-cancel","nonce":"x1","body":{"nonce":${named}}}`);
  expect(await session.reply('x1')).toMatchObject({ cancelled: 1 });
  expect(session.frames.at(-2)).toBe(`${JSON.stringify(cancelled).slice(0, -1)},"nonce":${sent}}`);
});

test.each([
  ['1e400', 'null'],
  ['"1"', '1'],
  ['["a"]', '"[\\"a\\"]"'],
  ['{"__proto__":1}', '{}'],
])('CALL-18: the nonce %s is not cancelled by %s', async (sent, named) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  await session.serve('x', ['f']);

  session.send(`{"action":"remote-call","nonce":${sent},"body":{"remotename":"x","function":"f"}}`);
  await session.next('remote-call');
  session.send(`{"action":"remote-call-cancel","nonce":"x1","body":{"nonce":${named}}}`);
  expect(await session.reply('x1')).toMatchObject({ cancelled: 0 });
});

test('CALL-18: a cancel touches no call of another nonce, another session or another user, and none without a nonce', async () => {
  await using hub = await startTestHub();
  const [server, caller, sibling] = [await hub.connect(), await hub.connect(), await hub.connect()];
  const stranger = await hub.connect({ user: 'u2' });
  await server.serve('x', ['f']);
  caller.send(call('a'));
  caller.send(call('1'));
  caller.send({ action: 'remote-call', body: { remotename: 'x', function: 'f' } });
  for (let n = 0; n < 3; n += 1) await server.next('remote-call');

  for (const session of [sibling, stranger]) {
    expect(await session.request('remote-call-cancel', { nonce: 'a' })).toMatchObject({ cancelled: 0 });
  }
  for (const nonce of ['A', 1, null, ['a'], {}, 'x#0', '']) {
    expect(await caller.request('remote-call-cancel', { nonce })).toMatchObject({ cancelled: 0 });
  }
  expect(hub.hub.counts().pendingCalls).toBe(3);
});

test.each([undefined, {}, 'a', null])(
  'CALL-18: a cancel with the body %j is refused and cancels nothing',
  async (body) => {
    await using hub = await startTestHub();
    const session = await hub.connect();
    await session.serve('x', ['f']);
    session.send(call('a'));
    await session.next('remote-call');

    expect(await session.request('remote-call-cancel', body)).toMatchObject({
      error: expect.stringMatching(/^body(?:\.nonce)?: expected /u),
      code: 'invalid-body',
    });
    expect(hub.hub.counts().pendingCalls).toBe(1);
  },
);

test('CALL-16 CALL-18: a result against a cancel, both orders in one write: the first counts', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  await session.serve('x', ['f']);
  const cancel = { action: 'remote-call-cancel', nonce: 'x', body: { nonce: 'a' } };

  session.send(call('a'));
  const first = await session.next('remote-call');
  session.sendTogether({ action: 'remote-call-result', requestId: first['requestId'], result: 1 }, cancel);
  expect(await session.reply('a')).toEqual({ result: 1, nonce: 'a' });
  expect(await session.reply('x')).toMatchObject({ cancelled: 0 });

  session.send(call('a'));
  const second = await session.next('remote-call');
  session.sendTogether(cancel, { action: 'remote-call-result', requestId: second['requestId'], result: 2 });
  expect(await session.reply('a')).toEqual({ ...cancelled, nonce: 'a' });
  expect(await session.reply('x')).toMatchObject({ cancelled: 1 });

  session.sendTogether(call('a', { remotename: 'nobody' }), cancel);
  expect(await session.reply('a')).toMatchObject({ code: 'remote-not-connected' });
  expect(await session.reply('x')).toMatchObject({ cancelled: 0 });
  await session.settle();
  expect([...session.replies, ...session.others]).toEqual([]);
});

test('CALL-16: a result against a disconnect and against the timeout, both orders: the first counts', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const session = await hub.connect();
  const result = (requestId: unknown): object => ({
    action: 'remote-call-result',
    requestId,
    result: 'in time',
  });
  const disconnect = { action: 'remote-disconnect', body: { remotename: 'x' } };
  const start = async (nonce: string, more = {}): Promise<unknown> => {
    await session.serve('x', ['f']);
    session.send(call(nonce, more));
    return (await session.next('remote-call'))['requestId'];
  };

  session.sendTogether(result(await start('a')), disconnect);
  expect(await session.reply('a')).toMatchObject({ result: 'in time' });
  session.sendTogether(disconnect, result(await start('b')));
  expect(await session.reply('b')).toMatchObject({ code: 'remote-disconnected' });
  const third = await start('c', { timeoutMs: 100 });
  await clock.advance(99);
  session.send(result(third));
  expect(await session.reply('c')).toMatchObject({ result: 'in time' });
  await clock.advance(1);
  const fourth = await start('d', { timeoutMs: 100 });
  await clock.advance(100);
  session.send(result(fourth));
  expect(await session.reply('d')).toMatchObject({ code: 'call-timeout' });
  await session.settle();
  expect(session.replies.filter(({ nonce }) => typeof nonce === 'string' && nonce.length === 1)).toEqual([]);
  expect(hub.hub.counts().pendingCalls).toBe(0);
});

test('CALL-19: a serving session with remotes.v1 is told of every early end of a call, and why', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const [server, caller] = [await hub.connect({ v1: true }), await hub.connect()];
  const start = async (more = {}): Promise<unknown> => {
    caller.send(call('c', more));
    return (await server.next('remote-call'))['requestId'];
  };
  const told = async (requestId: unknown, reason: string): Promise<void> => {
    expect(await server.next()).toEqual({ action: 'remote-call-cancel', requestId, reason });
  };
  await server.serve('x', ['f']);

  const slow = await start({ timeoutMs: 100 });
  await clock.advance(100);
  await told(slow, 'call-timeout');
  const unwanted = await start();
  caller.send({ action: 'remote-call-cancel', body: { nonce: 'c' } });
  await told(unwanted, 'call-cancelled');
  const cut = await start();
  caller.send({ action: 'remote-disconnect', body: { remotename: 'x' } });
  await told(cut, 'remote-disconnected');
  await server.serve('x', ['f']);
  const orphan = await start();
  caller.socket.terminate();
  await told(orphan, 'caller-gone');
  server.send(call('own'));
  const last = (await server.next('remote-call'))['requestId'];
  const closed = hub.hub.close();
  await told(last, 'shutting-down');
  await closed;
});

test('CALL-19: a call that was answered is not cancelled, and with drain none is', async () => {
  await using hub = await startTestHub();
  const [server, caller] = [await hub.connect({ v1: true }), await hub.connect()];
  await server.serve('x', ['f']);
  const replies = [caller.call('x', 'f'), caller.call('x', 'f')];
  await server.answer(1);
  server.send({ action: 'remote-call-result', requestId: 'x#1', error: 'bad' });
  await Promise.all(replies);
  await caller.request('remote-disconnect', { remotename: 'x', drain: true });
  await caller.close();
  await server.event('remote-disconnected');
  await server.settle();
  expect(server.others.map(({ action }) => action)).toEqual(['remote-call']);
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
