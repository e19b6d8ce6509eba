import { once } from 'node:events';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { eventually, soon } from '../../support/eventually.js';
import { onOneNode, startTestHub, type TestHub } from '../../support/hub.js';
import { TestSession } from '../../support/session.js';

const taken = { error: "remote 'x' is already connected", code: 'remote-already-connected' };

/** A session whose network is gone: it answers no ping. */
async function ghostOf(hub: TestHub, user = 'u1'): Promise<TestSession> {
  const headers = { authorization: `Bearer ${await hub.token(user)}` };
  const ghost = await TestSession.open(hub.socketUrl, [], { headers, autoPong: false });
  await ghost.event('session-opened');
  return ghost;
}

async function pinged(session: TestSession): Promise<void> {
  await soon(once(session.socket, 'ping'), 'a ping');
}

test('REMOTE-02: a name that another live session serves is refused, and its holder keeps it', async () => {
  await using hub = await startTestHub();
  const holder = await hub.connect();
  const other = await hub.connect();
  await holder.serve('x', ['f']);

  expect(await other.serve('x', ['g'])).toMatchObject(taken);
  const reply = other.call('x', 'f');
  await holder.answer('still here');
  expect(await reply).toMatchObject({ result: 'still here' });
  expect(holder.isOpen).toBe(true);
});

test('REMOTE-03: a name of this session is refused at once, without a probe', async () => {
  await using hub = await startTestHub();
  await using session = await ghostOf(hub);
  let pings = 0;
  session.socket.on('ping', () => (pings += 1));
  await session.serve('x', ['f']);

  session.sendTogether(
    { action: 'remote-connect', nonce: 'again', body: { remotename: 'x', tools: [] } },
    { action: 'ping', nonce: 'p' },
  );
  await session.reply('p');
  expect(session.replies).toMatchObject([{ ...taken, nonce: 'again' }]);
  expect(pings).toBe(0);
});

// on two nodes: a name is asked for at the other nodes too
onOneNode(
  'REMOTE-03: a name of the host program is refused at once, before a later request is answered',
  async () => {
    await using hub = await startTestHub();
    const session = await hub.connect();
    hub.hub.connectRemote({ userId: 'u1', remotename: 'x', functions: [] });

    session.sendTogether(
      { action: 'remote-connect', nonce: 'c', body: { remotename: 'x', tools: [] } },
      { action: 'ping', nonce: 'p' },
    );
    await session.reply('p');
    const [refusal, pong] = session.frames.slice(-2);
    expect([refusal, pong]).toEqual([
      JSON.stringify({ ...taken, nonce: 'c' }),
      '{"message":"pong","nonce":"p"}',
    ]);
  },
);

test('REMOTE-04: a holder that is silent for 2 s is closed, its calls fail, and the newcomer is connected', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  await using ghost = await ghostOf(hub);
  const caller = await hub.connect();
  const newcomer = await hub.connect();
  await ghost.serve('x', ['f']);
  await ghost.serve('y', ['f']);
  const lost = caller.call('x', 'f');
  await ghost.next('remote-call');

  const ping = pinged(ghost);
  const connected = newcomer.serve('x', ['f']);
  await ping;
  await newcomer.settle(); // the probe holds up no later request
  await clock.advance(1_999);
  expect(newcomer.replies).toEqual([]);
  expect(ghost.isOpen).toBe(true);
  await clock.advance(1);

  expect(await connected).toMatchObject({ message: 'remote connected', remotename: 'x' });
  expect(await lost).toMatchObject({ code: 'remote-disconnected', executed: 'unknown' });
  expect((await ghost.end()).code).toBe(1006);
  expect(await caller.remotes()).toEqual(['x']);
  const reply = caller.call('x', 'f');
  expect(await newcomer.answer('new')).toMatchObject({ requestId: 'x#0' });
  expect(await reply).toMatchObject({ result: 'new' });
  expect(hub.hub.counts()).toMatchObject({ sessions: 2, remotes: 1, providers: 1, pendingCalls: 0 });
});

test('REMOTE-04: any sign of life in time saves the holder, a message as well as a pong', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  await using holder = await ghostOf(hub);
  const newcomer = await hub.connect();
  await holder.serve('x', ['f']);

  for (const sign of [() => holder.socket.pong(), () => holder.send({ action: 'ping' })]) {
    const ping = pinged(holder);
    const refused = newcomer.serve('x', ['f']);
    await ping;
    await clock.advance(1_999);
    sign();
    expect(await refused).toMatchObject(taken);
  }
  await clock.advance(5_000);
  await holder.settle();
});

test('REMOTE-02: a holder that leaves while it is probed gives the name up at once', async () => {
  using _clock = fakeClock();
  await using hub = await startTestHub();
  await using closing = await ghostOf(hub);
  const newcomer = await hub.connect();

  await closing.serve('x', ['f']);
  let ping = pinged(closing);
  const first = newcomer.serve('x', ['f']);
  await ping;
  await closing.request('remote-disconnect', { remotename: 'x' });
  expect(await first).toMatchObject({ message: 'remote connected' });

  await closing.serve('y', ['f']);
  ping = pinged(closing);
  const second = newcomer.serve('y', ['f']);
  await ping;
  closing.socket.terminate();
  expect(await second).toMatchObject({ message: 'remote connected' });
  expect(await newcomer.remotes()).toEqual(['x', 'y']);
});

test('REMOTE-04: of many newcomers that want the name of a ghost exactly one gets it', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  await using ghost = await ghostOf(hub);
  await ghost.serve('x', ['f']);
  const newcomers = await Promise.all(Array.from({ length: 8 }, async () => hub.connect()));
  let pings = 0;
  ghost.socket.on('ping', () => (pings += 1));

  const replies = newcomers.map(async (session) => session.serve('x', ['f']));
  await Promise.all(newcomers.map(async (session) => session.settle()));
  await clock.advance(2_000);
  const codes = (await Promise.all(replies)).map(({ code }) => code ?? 'connected');

  expect(codes.filter((code) => code === 'connected')).toHaveLength(1);
  expect(codes.filter((code) => code === 'remote-already-connected')).toHaveLength(7);
  expect(pings).toBe(1);
  expect(hub.hub.counts()).toMatchObject({ sessions: 8, remotes: 1, providers: 1 });
});

test('REMOTE-02: of many sessions that connect one free name at the same time exactly one gets it', async () => {
  await using hub = await startTestHub();
  const sessions = await Promise.all(Array.from({ length: 8 }, async () => hub.connect()));

  const replies = await Promise.all(sessions.map(async (session) => session.serve('x', ['f'])));
  expect(replies.filter(({ message }) => message === 'remote connected')).toHaveLength(1);
  expect(replies.filter(({ code }) => code === 'remote-already-connected')).toHaveLength(7);
});

test('a newcomer that leaves while the holder is probed gets nothing and leaves nothing', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  await using ghost = await ghostOf(hub);
  const newcomer = await hub.connect();
  const witness = await hub.connect();
  await ghost.serve('x', ['f']);

  const ping = pinged(ghost);
  newcomer.send({ action: 'remote-connect', nonce: 'c', body: { remotename: 'x', tools: [] } });
  await ping;
  await newcomer.close();
  await eventually(() => hub.hub.counts().sessions === 2, 'the newcomer is gone');
  await clock.advance(2_000);
  await ghost.end();
  expect(await witness.remotes()).toEqual([]);
  expect(hub.hub.counts()).toMatchObject({ sessions: 1, remotes: 0, providers: 0 });
});

test('SESSION-03: a ghost of another user with the same names is nobody’s business', async () => {
  await using hub = await startTestHub();
  await using ghost = await ghostOf(hub, 'u2');
  await ghost.serve('x', ['f']);
  const session = await hub.connect({ user: 'u1' });

  expect(await session.serve('x', ['f'])).toMatchObject({ message: 'remote connected' });
  expect(await ghost.remotes()).toEqual(['x']);
});
