import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import {
  MARK,
  aNumber,
  arrived,
  heldLogins,
  invalid,
  logIn,
  passwordOf,
  refusedUpgrade,
  signed,
  startHub,
  tooMany,
  userOf,
} from './fixtures.js';

const START = 1_700_000_000_000;
const expired = { code: 4401, reason: 'the credentials have expired' };
const limits = { heartbeatMs: 600_000 };

test('AUTH-08: authenticate as the same user extends the session, which stays the same', async () => {
  using clock = fakeClock(START);
  await using hub = await startHub({ limits });
  await using session = await hub.open();
  await using other = await hub.connect();
  const { sessionId } = await logIn(session, { token: await hub.token('u1', 100_000) });
  await session.serve('x', ['f']);
  await clock.advance(90_000);
  await session.event('session-expiring');
  expect(await logIn(session, { token: await hub.token('u1', 200_000) })).toEqual({
    message: 'authenticated',
    userId: 'u1',
    sessionId,
    maxMessageBytes: 4_194_304,
    expiresAt: START + 290_000,
    nonce: 't3',
  });
  await clock.advance(139_999);
  expect(await other.remotes()).toEqual(['x']);
  await session.settle();
  expect(session.events.filter(({ action }) => action === 'session-expiring')).toEqual([]);
  await clock.advance(1);
  expect(await session.event('session-expiring')).toMatchObject({ body: { expiresAt: START + 290_000 } });
  await clock.advance(60_000);
  expect(await session.end()).toEqual(expired);
  // nobody was told of a new session
  await other.event('remote-disconnected');
  expect(other.events.filter(({ action }) => action === 'session-opened')).toHaveLength(1);
});

test('AUTH-08: a renewal may also shorten the session', async () => {
  using clock = fakeClock(START);
  await using hub = await startHub({ limits });
  await using session = await hub.connect({ ttlMs: 300_000 });
  expect(await logIn(session, { token: await hub.token('u1', 10_000) })).toMatchObject({
    expiresAt: START + 10_000,
  });
  expect(await session.event('session-expiring')).toMatchObject({ body: { expiresAt: START + 10_000 } });
  await clock.advance(10_000);
  expect(await session.end()).toEqual(expired);
  await hub.idle();
});

test('AUTH-08: a renewal with a password ends the expiry, one with a token brings it back', async () => {
  using clock = fakeClock(START);
  await using hub = await startHub({ limits, auth: { users: [await userOf('ann')] } });
  await using session = await hub.connect({ user: 'ann', ttlMs: 100_000 });
  const reply = await logIn(session, { username: 'ann', password: passwordOf('ann') });
  expect(reply).toMatchObject({ message: 'authenticated', userId: 'ann' });
  expect(reply).not.toHaveProperty('expiresAt');
  await clock.advance(200_000);
  await session.settle();
  expect(session.events).toEqual([]);
  await logIn(session, { token: await hub.token('ann', 61_000) });
  await clock.advance(61_000);
  expect(await session.end()).toEqual(expired);
});

test('AUTH-08: the last renewal that was decided counts; requests meanwhile are answered', async () => {
  using clock = fakeClock(START);
  const logins = heldLogins();
  await using hub = await startHub({ limits }, logins);
  await using session = await hub.open();
  const enter = logIn(session, { token: 'first' });
  (await logins.next()).decide({ userId: 'u1', expiresAt: START + 100_000 });
  await enter;
  const renewals = [logIn(session, { token: 'a' }), logIn(session, { token: 'b' })];
  const first = await logins.next();
  const second = await logins.next();
  await session.settle();
  second.decide({ userId: 'u1', expiresAt: START + 200_000 });
  expect(await renewals[1]).toMatchObject({ expiresAt: START + 200_000 });
  first.decide({ userId: 'u1', expiresAt: START + 150_000 });
  expect(await renewals[0]).toMatchObject({ expiresAt: START + 150_000 });
  await clock.advance(150_000);
  expect(await session.end()).toEqual(expired);
});

test('a renewal that is decided after the end comes too late', async () => {
  using clock = fakeClock(START);
  const logins = heldLogins();
  await using hub = await startHub({ limits }, logins);
  await using session = await hub.open();
  session.send({ action: 'authenticate', nonce: 'l', body: { token: 'first' } });
  (await logins.next()).decide({ userId: 'u1', expiresAt: START + 5_000 });
  await session.reply('l');
  session.send({ action: 'authenticate', nonce: 'late', body: { token: 'second' } });
  const late = await logins.next();
  await clock.advance(5_000);
  expect(await session.end()).toEqual(expired);
  late.decide({ userId: 'u1', expiresAt: START + 500_000 });
  await hub.idle();
  expect(session.replies).toEqual([]);
});

test('a renewal whose connection closes before it is decided leaves nothing', async () => {
  const logins = heldLogins();
  await using hub = await startHub({}, logins);
  await using session = await hub.open();
  session.send({ action: 'authenticate', nonce: 'l', body: { token: 'first' } });
  (await logins.next()).decide({ userId: 'u1' });
  session.send({ action: 'authenticate', nonce: 'late', body: { token: 'second' } });
  const late = await logins.next();
  await session.close();
  await hub.idle();
  late.decide({ userId: 'u1', expiresAt: Date.now() + 3_600_000 });
  await using next = await hub.open();
  const enter = logIn(next, { token: 'third' });
  (await logins.next()).decide({ userId: 'u1' });
  await enter;
  expect(hub.hub.counts()).toMatchObject({ sessions: 1 });
});

test('K142: a login as another user on a live session is refused, and the session stays as it was', async () => {
  using clock = fakeClock(START);
  await using hub = await startHub({ limits, auth: { users: [await userOf('u2')] } });
  await using session = await hub.connect({ user: 'u1', ttlMs: 100_000 });
  await using stranger = await hub.connect({ user: 'u2' });
  await session.serve('x', ['f']);
  for (const credentials of [
    { token: await hub.token('u2') },
    { username: 'u2', password: passwordOf('u2') },
    { token: await hub.token('U1') },
  ]) {
    expect(await logIn(session, credentials)).toMatchObject({
      error: 'a session cannot change its user',
      code: 'invalid-credentials',
    });
    expect(await session.remotes()).toEqual(['x']);
    expect(await stranger.remotes()).toEqual([]);
  }
  expect(await stranger.call('x', 'f')).toMatchObject({ code: 'remote-not-connected' });
  expect(stranger.events).toEqual([]);
  expect(hub.hub.counts()).toMatchObject({ sessions: 2, remotes: 1 });
  await clock.advance(100_000); // its end too
  expect(await session.end()).toEqual(expired);
});

test.each([
  ['a bad token', { token: MARK }],
  ['a wrong password', { username: 'u1', password: `not the ${MARK}` }],
])('a renewal that fails with %s leaves user, end and remotes unchanged', async (_what, credentials) => {
  using clock = fakeClock(START);
  await using hub = await startHub({ limits, auth: { users: [await userOf('u1')] } });
  await using session = await hub.connect({ ttlMs: 100_000 });
  await session.serve('x', ['f']);
  for (let n = 0; n < 5; n += 1) expect(await logIn(session, credentials)).toMatchObject(invalid);
  expect(await session.remotes()).toEqual(['x']);
  await clock.advance(99_999);
  await session.settle();
  await clock.advance(1);
  expect(await session.end()).toEqual(expired);
});

test('AUTH-13: a session that guesses is limited like any other, and lives on', async () => {
  await using hub = await startHub({ auth: { users: [await userOf('ann'), await userOf('bob')] } });
  await using session = await hub.connect({ user: 'bob' });
  const guess = { username: 'ann', password: `not the ${MARK}` };
  for (let n = 0; n < 10; n += 1) expect(await logIn(session, guess)).toMatchObject(invalid);
  expect(await logIn(session, guess)).toMatchObject({ ...tooMany, retryAfterMs: aNumber });
  const right = { authorization: `Basic ${Buffer.from(`ann:${passwordOf('ann')}`).toString('base64')}` };
  expect(await refusedUpgrade(hub.socketUrl, right)).toMatchObject({ status: 429, body: tooMany });
  expect(await logIn(session, { username: 'bob', password: passwordOf('bob') })).toMatchObject({
    userId: 'bob',
  });
});

test('a renewal ignores its instanceId, and so replaces nobody', async () => {
  await using hub = await startHub();
  const instanceId = 'an instance of tests';
  await using first = await hub.connect({ instanceId });
  await using second = await hub.connect();
  await logIn(second, { token: await signed(), instanceId });
  await arrived(second);
  expect(first.isOpen).toBe(true);
  await using _third = await hub.connect({ instanceId });
  expect(await first.end()).toMatchObject({ code: 4409 });
  await second.settle();
});
