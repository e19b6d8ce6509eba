// What is a loss, and what is not
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { startTestHub, type TestHub } from '../../support/hub.js';
import { FaultProxy } from '../../support/fault-proxy.js';
import { TestSession } from '../../support/session.js';
import { answer, logIn, lost, lostPair, serve, start } from './resuming-fixtures.js';

/** A text frame, masked, empty and with all reserved bits set. */
const frameWithReservedBits = Buffer.from([0xf1, 0x80, 0, 0, 0, 0]);

function rawOf({ socket }: TestSession): Socket {
  const raw: unknown = Reflect.get(socket, '_socket');
  if (!(raw instanceof Socket)) throw new TypeError('no socket');
  return raw;
}

/** As `lostPair`, with a network between the hub and the instance that can fail in silence. */
async function pairOver(hub: TestHub, proxy: FaultProxy) {
  const connection = await TestSession.open(proxy.url, ['remotes.v1']);
  const { session: serving } = await logIn(hub, {}, connection);
  const caller = await hub.connect({ v1: true });
  await serve(serving, 'x', 10_000);
  await caller.event('remote-connected');
  return { serving, caller };
}

test.each([1000, 1001, 3000, 4000])(
  'CALL-25: a close frame of the serving session with %i fails its calls at once',
  async (code) => {
    await using hub = await startTestHub();
    const { serving, caller } = await lostPair(hub);
    const { requestId, reply } = await start(caller, serving);
    await serving.close(code);
    expect(await reply).toMatchObject({ ...lost, requestId });
    const { session, reply: login } = await logIn(hub);
    expect(login).not.toHaveProperty('resumed');
    expect(session.others).toEqual([]);
    expect(hub.hub.counts()).toMatchObject({ providers: 0, pendingCalls: 0 });
  },
);

test('CALL-25: a close frame of the hub fails them at once: too long a frame, too many binary ones, an expired token', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub({ limits: { maxMessageBytes: 10_000 } });
  const ends: Record<number, (serving: TestSession) => unknown> = {
    1009: (serving) => serving.send(`"${'x'.repeat(10_000)}"`),
    1002: (serving) => rawOf(serving).write(frameWithReservedBits),
    1007: (serving) => serving.socket.send(Buffer.from([0xff]), { binary: false }),
    1003: (serving) => {
      for (let frame = 0; frame < 9; frame += 1) serving.socket.send(Buffer.from([1]));
    },
    4401: async () => clock.advance(11_000),
  };
  for (const [code, end] of Object.entries(ends)) {
    const { serving, caller } = await lostPair(hub, 10_000, { ttlMs: 10_000 });
    const { reply } = await start(caller, serving);
    await end(serving);
    expect(await serving.end()).toMatchObject({ code: Number(code) });
    expect(await reply).toMatchObject({ code: 'remote-disconnected' });
    const { session, reply: login } = await logIn(hub);
    expect(login).not.toHaveProperty('resumed');
    await session.close();
    await caller.close();
  }
});

test('CALL-25: a resumed session that closes fails the calls that it took over', async () => {
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub);
  const { reply } = await start(caller, serving);
  serving.socket.terminate();
  await caller.event('remote-disconnected');
  const { session } = await logIn(hub);
  await session.close();
  expect(await reply).toMatchObject(lost);
  expect(hub.hub.counts()).toMatchObject({ providers: 0, pendingCalls: 0 });
});

test('CALL-25: an instance replaces its half-open session and answers its calls', async () => {
  await using hub = await startTestHub();
  await using proxy = await FaultProxy.start(hub.socketUrl);
  const { serving, caller } = await pairOver(hub, proxy);
  const { requestId, reply } = await start(caller, serving);
  proxy.stall();
  const { session, reply: login } = await logIn(hub);
  expect(login).toMatchObject({ resumed: true });
  await caller.event('remote-disconnected');
  expect(await serve(session, 'x', 10_000)).toMatchObject({ message: 'remote connected' });
  const next = await start(caller, session);
  expect(next.requestId).toBe('x#1');
  answer(session, requestId, 'old');
  answer(session, next.requestId, 'new');
  expect(await reply).toMatchObject({ result: 'old' });
  expect(await next.reply).toMatchObject({ result: 'new' });
});

test('CALL-25: an instance that replaces its living session answers its calls, too, and that session no more', async () => {
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub);
  const { requestId, reply } = await start(caller, serving);
  const { session, reply: login } = await logIn(hub);
  expect(login).toMatchObject({ resumed: true });
  answer(serving, requestId, 'a ghost');
  expect(await serving.end()).toMatchObject({ code: 4409 });
  answer(session, requestId, 1);
  expect(await reply).toMatchObject({ result: 1 });
});

test('CALL-25: a peer that falls silent is lost when the heartbeat cuts it off', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  await using proxy = await FaultProxy.start(hub.socketUrl);
  const { serving, caller } = await pairOver(hub, proxy);
  const { requestId, reply } = await start(caller, serving, 'x', { timeoutMs: 600_000 });
  proxy.stall();
  await clock.advance(15_000);
  await caller.settle();
  await clock.advance(15_000);
  await caller.event('remote-disconnected');
  expect(hub.hub.counts()).toMatchObject({ sessions: 1, pendingCalls: 1 });
  answer((await logIn(hub)).session, requestId, 1);
  expect(await reply).toMatchObject({ result: 1 });
});

test('CALL-25: a silent holder whose name another session takes is lost, and its calls wait', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  await using proxy = await FaultProxy.start(hub.socketUrl);
  const { serving, caller } = await pairOver(hub, proxy);
  const { requestId, reply } = await start(caller, serving);
  proxy.stall();
  const connected = serve(caller, 'x');
  await caller.settle();
  await clock.advance(2_000);
  expect(await connected).toMatchObject({ message: 'remote connected' });
  expect(hub.hub.counts()).toMatchObject({ sessions: 1, remotes: 1, providers: 2, pendingCalls: 1 });
  answer((await logIn(hub)).session, requestId, 1);
  expect(await reply).toMatchObject({ result: 1 });
});
