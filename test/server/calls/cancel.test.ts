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
    ['x#0', 'x#2'].map((requestId) => JSON.stringify({ ...cancelled, requestId, nonce: 'a' })),
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
  const fields = JSON.stringify({ ...cancelled, requestId: 'x#0' }).slice(0, -1);
  expect(session.frames.at(-2)).toBe(`${fields},"nonce":${sent}}`);
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

    const reply = await session.request('remote-call-cancel', body);
    expect(reply).toMatchObject({ code: 'invalid-body' });
    expect(reply['error']).toMatch(/^body(?:\.nonce)?: expected /u);
    expect(hub.hub.counts().pendingCalls).toBe(1);
  },
);

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

test('CALL-18: of two cancels of one call each is answered', async () => {
  await using hub = await startTestHub();
  const [server, caller] = [await hub.connect(), await hub.connect()];
  await server.serve('x', ['f']);
  caller.send(call('a'));
  await server.next('remote-call');
  for (const nonce of ['x1', 'x2']) {
    caller.send({ action: 'remote-call-cancel', nonce, body: { nonce: 'a' } });
  }
  expect(await caller.reply('a')).toMatchObject({ code: 'call-cancelled' });
  expect(await caller.reply('x1')).toMatchObject({ cancelled: 1 });
  expect(await caller.reply('x2')).toMatchObject({ message: 'remote calls cancelled' });
});
