import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { startTestHub } from '../../support/hub.js';

test('REMOTE-09: a disconnect is answered with message, remotename and nonce, and nothing else', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect({ v1: true });
  await server.serve('x', ['f']);
  await server.serve('y', ['f']);

  server.send({ action: 'remote-disconnect', nonce: 'd1', body: { remotename: 'x' } });
  expect(await server.reply('d1')).toEqual({ message: 'remote disconnected', remotename: 'x', nonce: 'd1' });
  server.send({ action: 'remote-disconnect', nonce: 'd2', body: { remotename: 'y', drain: true } });
  expect(await server.reply('d2')).toEqual({ message: 'remote disconnected', remotename: 'y', nonce: 'd2' });
  expect(hub.hub.counts()).toMatchObject({ remotes: 0, providers: 0 });
});

test('REMOTE-10: a name that is not connected is refused, for another user’s remote too', async () => {
  await using hub = await startTestHub();
  const stranger = await hub.connect({ user: 'u2' });
  const session = await hub.connect();
  await stranger.serve('x', ['f']);

  for (const body of [{ remotename: 'x' }, { remotename: 'x', drain: true }]) {
    expect(await session.request('remote-disconnect', body)).toMatchObject({
      error: "no connected remote named 'x'",
      code: 'remote-not-connected',
    });
  }
  expect(await stranger.remotes()).toEqual(['x']);
  await stranger.request('remote-disconnect', { remotename: 'x' });
  expect(await stranger.request('remote-disconnect', { remotename: 'x' })).toMatchObject({
    code: 'remote-not-connected',
  });
});

test.each(['yes', 1, null, {}])(
  'a drain that is %j is refused and nothing is disconnected',
  async (drain) => {
    await using hub = await startTestHub();
    const server = await hub.connect();
    await server.serve('x', ['f']);

    const reply = await server.request('remote-disconnect', { remotename: 'x', drain });
    expect(reply).toMatchObject({ code: 'invalid-body' });
    expect(reply['error']).toMatch(/^body\.drain: expected boolean, received /u);
    expect(await server.remotes()).toEqual(['x']);
  },
);

test('REMOTE-11: any session of the user may disconnect a remote, and any may connect its name then', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const other = await hub.connect();
  await server.serve('x', ['f']);

  expect(await other.request('remote-disconnect', { remotename: 'x' })).toMatchObject({ remotename: 'x' });
  expect(server.isOpen).toBe(true);
  expect(await server.remotes()).toEqual([]);
  expect(await other.serve('x', ['g'])).toMatchObject({ message: 'remote connected' });
  expect(await server.call('x', 'f')).toMatchObject({ code: 'function-not-found' });
  await other.request('remote-disconnect', { remotename: 'x' });
  expect(await server.serve('x', ['f'])).toMatchObject({ message: 'remote connected' });
});

test('REMOTE-12: with drain the name is free at once, new calls are refused, and calls in flight may finish', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect({ v1: true });
  const caller = await hub.connect();
  await server.serve('x', ['f']);
  const [first, second] = [caller.call('x', 'f'), caller.call('x', 'f')];
  const calls = [await server.next('remote-call'), await server.next('remote-call')];

  await caller.request('remote-disconnect', { remotename: 'x', drain: true });
  expect(await caller.event('remote-disconnected')).toMatchObject({ body: { remotename: 'x' } });
  expect(await caller.remotes()).toEqual([]);
  expect(await caller.call('x', 'f')).toMatchObject({ code: 'remote-not-connected', executed: 'no' });
  expect(await caller.serve('x', ['f'])).toMatchObject({ message: 'remote connected' });
  server.send({ action: 'remote-call-progress', requestId: calls[0]?.['requestId'], progress: 1 });
  for (const call of calls) {
    server.send({ action: 'remote-call-result', requestId: call['requestId'], result: call['requestId'] });
  }

  expect(await first).toMatchObject({ result: 'x#0' });
  expect(await second).toMatchObject({ result: 'x#1' });
  expect(server.others).toEqual([]); // nothing was cancelled
  expect(await caller.remotes()).toEqual(['x']); // the new one did not end with the old one
  expect(hub.hub.counts()).toMatchObject({ remotes: 1, providers: 1, pendingCalls: 0 });
});

test('REMOTE-12: a draining call still times out, and ends with its session', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const server = await hub.connect();
  const caller = await hub.connect();
  await server.serve('x', ['f']);
  const slow = caller.call('x', 'f', {}, { timeoutMs: 500 });
  const lost = caller.call('x', 'f', {});
  await server.next('remote-call');
  await server.next('remote-call');
  await caller.request('remote-disconnect', { remotename: 'x', drain: true });
  await caller.event('remote-disconnected');

  await clock.advance(500);
  expect(await slow).toMatchObject({ code: 'call-timeout' });
  expect(hub.hub.counts()).toMatchObject({ remotes: 0, providers: 1, pendingCalls: 1 });
  await server.close();
  expect(await lost).toMatchObject({ code: 'remote-disconnected', executed: 'unknown' });
  await caller.settle();
  expect(caller.events).toEqual([expect.objectContaining({ action: 'remote-connected' })]); // told once
  expect(hub.hub.counts()).toMatchObject({ providers: 0, pendingCalls: 0 });
});

test('K019: connects and disconnects of one write are answered in order, and a call that waits holds up nothing', async () => {
  await using hub = await startTestHub();
  const slow = await hub.connect();
  const session = await hub.connect();
  await slow.serve('y', ['slow']);
  const connect = { action: 'remote-connect', body: { remotename: 'x', tools: [] } };

  session.sendTogether(
    { ...connect, nonce: 1 },
    { action: 'remote-disconnect', nonce: 2, body: { remotename: 'x' } },
    { ...connect, nonce: 3 },
    { action: 'remote-call', nonce: 4, body: { remotename: 'y', function: 'slow' } },
    { action: 'remote-list', nonce: 5 },
  );
  const list = await session.reply(5);
  expect(session.replies.map(({ nonce, error }) => ({ nonce, error }))).toEqual([
    { nonce: 1 },
    { nonce: 2 },
    { nonce: 3 },
  ]);
  expect(list).toMatchObject({ remotes: [{ remotename: 'y' }, { remotename: 'x' }] });
  await slow.answer('late');
  expect(await session.reply(4)).toEqual({ result: 'late', nonce: 4 });
});

test('K023: the late end of a replaced session touches nothing that its successor owns', async () => {
  await using hub = await startTestHub();
  const instanceId = 'an-instance-of-16-or-more';
  const old = await hub.connect({ instanceId });
  const caller = await hub.connect();
  await old.serve('x', ['f']);
  old.socket.pause(); // the hub's close frame is not seen yet, so the old connection lingers

  const successor = await hub.connect({ instanceId });
  expect(await successor.serve('x', ['f'])).toMatchObject({ message: 'remote connected' });
  old.send({ action: 'remote-disconnect', body: { remotename: 'x' } });
  old.send({ action: 'remote-call-result', requestId: 'x#0', result: 'from the dead' });
  const before = caller.call('x', 'f');
  await successor.next('remote-call');
  old.socket.resume();
  expect((await old.end()).code).toBe(4409);
  await caller.settle();
  successor.send({ action: 'remote-call-result', requestId: 'x#0', result: 'before' });
  expect(await before).toMatchObject({ result: 'before' });

  const after = caller.call('x', 'f');
  await successor.answer('after');
  expect(await after).toMatchObject({ result: 'after' });
  expect(await caller.remotes()).toEqual(['x']);
  expect(hub.hub.counts()).toMatchObject({ sessions: 2, remotes: 1, providers: 1, pendingCalls: 0 });
});
