import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { startTestHub } from '../../support/hub.js';
import { TestSession } from '../../support/session.js';
import {
  MARK,
  arrived,
  bearer,
  cut,
  heldLogins,
  invalid,
  noneWaiting,
  openFrom,
  signed,
  startHub,
} from './fixtures.js';

const login = (nonce: string, token: string = MARK) => ({ action: 'authenticate', nonce, body: { token } });

test('K016: 200 logins whose connections close while they are decided leave nothing', async () => {
  const logins = heldLogins();
  await using hub = await startHub({ limits: { maxUnauthenticatedPerAddress: 300 } }, logins);
  const connections = await Promise.all(Array.from({ length: 200 }, () => hub.open()));
  for (const [n, session] of connections.entries()) {
    session.send(login('l1'));
    session.send({ action: 'remote-connect', nonce: 'c1', body: { remotename: `x${n}`, tools: [] } });
    if (n % 2 === 0) session.socket.close();
    else if (n % 3 !== 0) session.socket.terminate(); // a third of the odd ones stays for the moment
  }
  // a reset may overtake the login itself: those that were seen are decided
  await eventually(() => logins.count() >= 133, 'the logins of those that closed or stayed');
  for (const session of connections) if (session.isOpen) await cut(session);
  await noneWaiting(hub);
  for (let n = 0; logins.count() > 0; n += 1) {
    const { decide, fail } = await logins.next();
    if (n % 3 === 0) decide(null);
    else if (n % 3 === 1) fail(new Error('the data base is away'));
    else decide({ userId: 'u1', expiresAt: Date.now() + 3_600_000 });
  }
  await hub.idle();
  expect(hub.hub.counts()).toMatchObject({ sessions: 0, unauthenticated: 0, remotes: 0, providers: 0 });
  expect(hub.logs.filter(({ msg }) => msg === 'session opened')).toEqual([]);
});

test('K016: a real login of a connection that closes at once leaves nothing', async () => {
  await using hub = await startHub();
  const token = await signed();
  for (let n = 0; n < 50; n += 1) {
    const session = await hub.open();
    session.send(login('l1', token));
    if (n % 2 === 0) await session.close();
    else await cut(session);
  }
  await hub.idle();
  const count = (msg: string): number => hub.logs.filter((line) => line['msg'] === msg).length;
  expect(count('session opened')).toBe(count('session closed'));
  expect(hub.hub.counts()).toMatchObject({ sessions: 0, unauthenticated: 0 });
});

test('K016: an upgrade whose socket is gone before its login is decided leaves nothing', async () => {
  const logins = heldLogins();
  await using hub = await startHub({}, logins);
  for (const outcome of ['in', 'out', 'failed'] as const) {
    const aborted = new AbortController();
    const upgrade = fetchUpgrade(hub.url, aborted.signal);
    const { decide, fail } = await logins.next();
    aborted.abort();
    await upgrade;
    if (outcome === 'in') decide({ userId: 'u1' });
    else if (outcome === 'out') decide(null);
    else fail(new Error('the data base is away'));
  }
  // a login that succeeds afterwards shows that the hub is well
  const opening = TestSession.open(hub.socketUrl, [], { headers: bearer(MARK) });
  (await logins.next()).decide({ userId: 'u1' });
  await using session = await opening;
  await session.event('session-opened');
  await session.close();
  await hub.idle();
});

test('a login that fails after the hub has closed the connection is not answered', async () => {
  const logins = heldLogins();
  await using hub = await startHub({ limits: { maxUnauthenticatedPerAddress: 1 } }, logins);
  await using first = await hub.open();
  first.send(login('l1'));
  const held = await logins.next();
  await using second = await hub.open();
  expect(await first.end()).toMatchObject({ code: 4401 });
  held.fail(new Error('the data base is away'));
  second.send(login('l2'));
  (await logins.next()).decide(null);
  expect(await second.reply('l2')).toEqual({ ...invalid, nonce: 'l2' });
  expect(first.frames).toEqual([]);
});

test('a hub that closes while logins are decided ends them, and late decisions change nothing', async () => {
  const logins = heldLogins();
  const hub = await startTestHub({}, logins);
  const session = await hub.open();
  session.send(login('l1'));
  const { decide } = await logins.next();
  const upgrade = TestSession.open(hub.socketUrl, [], { headers: bearer(MARK) }).then(
    () => 'open',
    (error: Error) => error.message,
  );
  const atUpgrade = await logins.next();
  const closing = hub.hub.close();
  expect(await session.end()).toEqual({ code: 1001, reason: 'the hub is going away' });
  decide({ userId: 'u1' });
  atUpgrade.decide({ userId: 'u1' });
  expect(await upgrade).not.toBe('open');
  await closing;
  expect(hub.hub.counts()).toMatchObject({ sessions: 0, unauthenticated: 0 });
  expect(session.frames).toEqual([]);
});

// Pushing out connections that have not logged in

test('of one address the oldest goes with 4401 when there are too many; a genuine client gets in', async () => {
  await using hub = await startHub({ limits: { maxUnauthenticatedPerAddress: 3 } });
  const idle = [await hub.open(), await hub.open(), await hub.open()];
  await using genuine = await hub.open();
  expect(await idle[0]?.end()).toEqual({
    code: 4401,
    reason: 'too many connections that have not logged in',
  });
  expect(await genuine.request('authenticate', { token: await hub.token() })).toMatchObject({ userId: 'u1' });
  await using _room = await hub.open(); // the login made room
  await arrived(genuine);
  expect(idle.map(({ isOpen }) => isOpen)).toEqual([false, true, true]);
  expect(hub.hub.counts().unauthenticated).toBe(3);
});

test('in all, the oldest of the address with the most goes, and other addresses are spared', async () => {
  await using hub = await startHub({ limits: { maxUnauthenticated: 4, maxUnauthenticatedPerAddress: 3 } });
  const few = await openFrom(hub, '127.0.0.2');
  const many = [await hub.open(), await hub.open(), await hub.open()];
  await using another = await openFrom(hub, '127.0.0.3');
  expect(await many[0]?.end()).toMatchObject({ code: 4401 });
  await arrived(another);
  expect([few, ...many].map(({ isOpen }) => isOpen)).toEqual([true, false, true, true]);
  await few.close();
});

test('a connection whose login is being decided is spared while others can go', async () => {
  const logins = heldLogins();
  await using hub = await startHub({ limits: { maxUnauthenticatedPerAddress: 2 } }, logins);
  await using loggingIn = await hub.open();
  loggingIn.send(login('l1'));
  const first = await logins.next();
  const idle = await hub.open();
  await using third = await hub.open();
  expect(await idle.end()).toMatchObject({ code: 4401 });
  expect(loggingIn.isOpen).toBe(true);

  third.send(login('l3'));
  const last = await logins.next();
  await using fourth = await hub.open(); // both are logging in: now the oldest goes
  expect(await loggingIn.end()).toMatchObject({ code: 4401 });
  first.decide({ userId: 'u1' });
  last.decide({ userId: 'u3' });
  expect(await third.reply('l3')).toMatchObject({ userId: 'u3' });
  expect(fourth.isOpen).toBe(true);
  expect(loggingIn.frames).toEqual([]);
});

test('a refused login is no longer spared', async () => {
  const logins = heldLogins();
  await using hub = await startHub({ limits: { maxUnauthenticatedPerAddress: 2 } }, logins);
  await using refused = await hub.open();
  refused.send(login('l1'));
  (await logins.next()).decide(null);
  await refused.reply('l1');
  await using idle = await hub.open();
  await using _third = await hub.open();
  expect(await refused.end()).toMatchObject({ code: 4401 });
  expect(idle.isOpen).toBe(true);
});

/** Starts an upgrade with a token and cuts it. */
async function fetchUpgrade(url: string, signal: AbortSignal): Promise<void> {
  const { request } = await import('node:http');
  await new Promise<void>((resolve) => {
    const headers = {
      ...bearer(MARK),
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    const asked = request(`${url}/ws`, { headers, signal });
    asked.on('error', () => undefined);
    asked.on('close', resolve);
    asked.end();
  });
}
