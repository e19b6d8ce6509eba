import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import {
  MARK,
  arrived,
  heldLogins,
  invalid,
  logIn,
  noneWaiting,
  notAuthenticated,
  openCorked,
  signed,
  startHub,
} from './fixtures.js';

const login = (nonce: string, token: string = MARK) => ({ action: 'authenticate', nonce, body: { token } });
const ping = (nonce: unknown) => ({ action: 'ping', nonce });

test('AUTH-06: without a login the connection is closed after 10 s, not before', async () => {
  using clock = fakeClock();
  await using hub = await startHub();
  await using idle = await hub.open();
  await using busy = await hub.open();
  await clock.advance(9_999);
  expect(await busy.request('ping')).toMatchObject(notAuthenticated); // it does not help
  expect(idle.isOpen).toBe(true);
  await clock.advance(1);
  const closed = { code: 4401, reason: 'no login within 10000 ms' };
  expect(await idle.end()).toEqual(closed);
  expect(await busy.end()).toEqual(closed);
  await hub.idle();
});

test('AUTH-06: a login in time stops the clock', async () => {
  using clock = fakeClock();
  await using hub = await startHub();
  await using session = await hub.open();
  await clock.advance(9_999);
  await logIn(session, { token: await hub.token() });
  await clock.advance(10_000);
  await session.settle();
});

test('AUTH-06: a login that is not decided in 10 s comes too late', async () => {
  using clock = fakeClock();
  const logins = heldLogins();
  await using hub = await startHub({}, logins);
  await using session = await hub.open();
  session.send(login('l1'));
  session.send(ping('p1'));
  const { decide } = await logins.next();
  await clock.advance(10_000);
  expect(await session.end()).toEqual({ code: 4401, reason: 'no login within 10000 ms' });
  decide({ userId: 'u1' });
  await hub.idle();
  expect(session.frames).toEqual([]);
});

test('AUTH-06: the third failure closes the connection with 4401, after its answer', async () => {
  await using hub = await startHub();
  await using session = await hub.open();
  for (const nonce of ['l1', 'l2', 'l3', 'l4']) session.send(login(nonce));
  session.send(ping('p1'));
  expect(await session.end()).toEqual({ code: 4401, reason: 'too many failed logins' });
  expect(session.replies).toEqual(['l1', 'l2', 'l3'].map((nonce) => ({ ...invalid, nonce })));
  await hub.idle();
});

test('AUTH-06: two failures and a success leave a session whose failures are forgotten', async () => {
  await using hub = await startHub();
  await using session = await hub.open();
  await logIn(session, { token: MARK });
  await logIn(session, { token: MARK });
  await logIn(session, { token: await hub.token() });
  for (let n = 0; n < 5; n += 1) expect(await logIn(session, { token: MARK })).toMatchObject(invalid);
  await session.settle();
});

test('more than 100 refused messages before the login close the connection with 4400', async () => {
  await using hub = await startHub();
  await using session = await hub.open();
  for (let n = 1; n <= 100; n += 1) session.send(n % 2 === 0 ? ping(n) : '[]');
  await arrived(session);
  expect(session.isOpen).toBe(true);
  session.send(ping(101));
  expect(await session.end()).toEqual({ code: 4400, reason: 'too many requests before the login' });
  expect(session.frames).toHaveLength(100);
  await hub.idle();
});

test('more than 256 KiB before the login close the connection with 4400, in one frame or many', async () => {
  await using hub = await startHub();
  for (const size of [300 * 1024, 30 * 1024]) {
    await using session = await hub.open();
    for (let sent = 0; sent < 300 * 1024; sent += size) session.send(ping('x'.repeat(size)));
    expect(await session.end()).toEqual({ code: 4400, reason: 'too much was sent before the login' });
  }
  await hub.idle();
});

test('AUTH-07: 32 frames wait for a login; after it they are handled in order', async () => {
  const logins = heldLogins();
  await using hub = await startHub({}, logins);
  await using session = await hub.open();
  session.send(login('l1'));
  for (let n = 0; n < 32; n += 1) session.send(ping(n));
  await arrived(session);
  (await logins.next()).decide({ userId: 'u1' });
  await session.reply(31);
  await session.event('session-opened');
  const nonces = session.frames.map((frame) => (JSON.parse(frame) as { nonce: unknown }).nonce);
  expect(nonces).toEqual(['l1', ...Array.from({ length: 32 }, (_, n) => n), undefined]);
});

test('AUTH-07: after a refusal waiting requests are refused, and waiting logins are tried in their turn', async () => {
  const logins = heldLogins();
  await using hub = await startHub({}, logins);
  await using session = await hub.open();
  session.send(login('l1'));
  session.send(ping('p1'));
  session.socket.send(Buffer.from('binary'));
  session.send('not JSON');
  session.send(login('l2', `${MARK} 2`));
  session.send(ping('p2'));
  await arrived(session);
  (await logins.next()).decide(null);
  const second = await logins.next();
  expect(second.credentials).toEqual({ token: `${MARK} 2` });
  second.decide({ userId: 'u1' });
  await session.event('session-opened');
  const frames = session.frames.map((frame) => JSON.parse(frame) as unknown);
  expect(frames).toMatchObject([
    { ...invalid, nonce: 'l1' },
    { ...notAuthenticated, nonce: 'p1' },
    { code: 'malformed-message', error: 'binary frame: messages are text' },
    { code: 'malformed-message', error: 'the frame is not well-formed JSON' },
    { message: 'authenticated', nonce: 'l2' },
    { message: 'pong', nonce: 'p2' },
    { action: 'session-opened' },
  ]);
});

test('AUTH-07: the 33rd waiting frame closes the connection with 4400, and nothing of it is carried out', async () => {
  const logins = heldLogins();
  await using hub = await startHub({}, logins);
  await using session = await hub.open();
  session.send(login('l1'));
  for (let n = 0; n < 33; n += 1) session.send(ping(n));
  expect(await session.end()).toEqual({
    code: 4400,
    reason: 'too much was sent before the login was decided',
  });
  (await logins.next()).decide({ userId: 'u1' });
  await hub.idle();
  expect(session.frames).toEqual([]);
});

test.each([
  ['ASCII', 'x', 1],
  ['characters of three bytes', '木', 3],
])('AUTH-07: 64 KiB may wait, one byte more may not: %s', async (_what, character, bytes) => {
  const logins = heldLogins();
  await using hub = await startHub({}, logins);
  const ofBytes = (size: number): string => {
    const filled = JSON.stringify({
      action: 'ping',
      nonce: 1,
      fill: character.repeat(1 + (size - 64) / bytes),
    });
    return filled.padEnd(filled.length + size - Buffer.byteLength(filled));
  };
  for (const more of [0, 1]) {
    await using session = await hub.open();
    session.send(login('l1'));
    session.send(ofBytes(32 * 1024));
    session.send(ofBytes(32 * 1024 + more));
    if (more > 0) expect(await session.end()).toMatchObject({ code: 4400 });
    else await arrived(session);
    (await logins.next()).decide({ userId: 'u1' });
    if (more === 0) expect(await session.reply(1)).toMatchObject({ message: 'pong' });
  }
  await hub.idle();
});

test('AUTH-07: what was handled makes room for what waits for the next login', async () => {
  const logins = heldLogins();
  await using hub = await startHub({}, logins);
  await using session = await hub.open();
  for (const round of ['l1', 'l2']) {
    session.send(login(round));
    for (let n = 0; n < 32; n += 1) session.send(ping(`${round}.${n}`));
    await arrived(session);
    (await logins.next()).decide(null);
    expect(await session.reply(`${round}.31`)).toMatchObject(notAuthenticated);
  }
});

test('K017: login, connect and list in one write are answered in that order, and the list holds the remote', async () => {
  await using hub = await startHub();
  const token = await signed();
  const { session, write } = await openCorked(hub);
  await using _session = session;
  const tools = [{ name: 'f', description: 'f', parameters: { type: 'object' } }];
  write(() => {
    session.send(login('1', token));
    session.send({ action: 'remote-connect', nonce: '2', body: { remotename: 'x', tools } });
    session.send({ action: 'remote-list', nonce: '3' });
  });
  await session.event('remote-connected');
  const messages = session.frames.map((frame) => JSON.parse(frame) as unknown);
  expect(messages).toMatchObject([
    { message: 'authenticated', nonce: '1' },
    { message: 'remote connected', remotename: 'x', nonce: '2' },
    { remotes: [{ remotename: 'x', tools }], nonce: '3' },
    { action: 'session-opened' },
    { action: 'remote-connected', body: { remotename: 'x' } },
  ]);
});

test('K017: with a refused login the rest of the write is refused, in order, and leaves nothing', async () => {
  await using hub = await startHub();
  const { session, write } = await openCorked(hub);
  await using _session = session;
  write(() => {
    session.send(login('1'));
    session.send({ action: 'remote-connect', nonce: '2', body: { remotename: 'x', tools: [] } });
    session.send({ action: 'remote-list', nonce: '3' });
  });
  await session.reply('3');
  expect(session.frames.map((frame) => JSON.parse(frame) as unknown)).toEqual([
    { ...invalid, nonce: '1' },
    { ...notAuthenticated, nonce: '2' },
    { ...notAuthenticated, nonce: '3' },
  ]);
  await session.close();
  await noneWaiting(hub);
  expect(hub.hub.counts()).toMatchObject({ remotes: 0, providers: 0, sessions: 0 });
});
