import { request } from 'node:http';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { startTestHub } from '../../support/hub.js';
import { TestSession } from '../../support/session.js';
import { MARK, bearer, cut, heldLogins, invalid, noneWaiting, signed, startHub } from './fixtures.js';

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
    const upgrade = abortedUpgrade(hub.url, aborted.signal);
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

/** Starts an upgrade with a token and cuts it. */
async function abortedUpgrade(url: string, signal: AbortSignal): Promise<void> {
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
