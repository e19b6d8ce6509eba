import { expect, test, vi } from 'vitest';
import { Expiry } from '../../../server/src/sessions/expiry.js';
import { fakeClock } from '../../support/clock.js';
import { aString, heldLogins, logIn, passwordOf, signed, startHub, userOf } from './fixtures.js';

const expired = { code: 4401, reason: 'the credentials have expired' };
/** No heartbeat while the clock leaps. */
const limits = { heartbeatMs: 600_000 };
const DAY = 24 * 3_600_000;

test('AUTH-09: session-expiring comes 60 s before the end, the close with 4401 at it, to that session alone', async () => {
  using clock = fakeClock(1_700_000_000_000);
  await using hub = await startHub({ limits });
  await using session = await hub.connect({ ttlMs: 300_000 });
  await using other = await hub.connect();
  await clock.advance(239_999);
  await session.settle();
  expect(session.events.map(({ action }) => action)).toEqual(['session-opened']); // that of the other
  await clock.advance(1);
  expect(await session.event('session-expiring')).toEqual({
    action: 'session-expiring',
    body: { sessionId: aString, expiresAt: 1_700_000_300_000 },
  });
  await clock.advance(59_999);
  await session.settle();
  await clock.advance(1);
  expect(await session.end()).toEqual(expired);
  await other.settle();
  expect(other.events).toEqual([]);
  await other.close();
  await hub.idle();
});

test('AUTH-09: when less than 60 s is left the notice comes at once, after the login reply', async () => {
  using clock = fakeClock(1_700_000_000_000);
  await using hub = await startHub({ limits });
  await using session = await hub.open();
  const { sessionId } = await logIn(session, { token: await hub.token('u1', 20_000) });
  await session.event('session-expiring');
  expect(session.frames.map((frame) => JSON.parse(frame) as unknown)).toMatchObject([
    { message: 'authenticated', expiresAt: 1_700_000_020_000 },
    { action: 'session-opened' },
    { action: 'session-expiring', body: { sessionId, expiresAt: 1_700_000_020_000 } },
  ]);
  await clock.advance(19_999);
  await session.settle();
  await clock.advance(1);
  expect(await session.end()).toEqual(expired);
});

test('AUTH-09: at the upgrade the notice follows session-opened', async () => {
  using clock = fakeClock(1_700_000_000_000);
  await using hub = await startHub({ limits });
  await using session = await hub.connect({ ttlMs: 60_000 });
  await session.event('session-expiring');
  expect(session.frames.map((frame) => (JSON.parse(frame) as { action: unknown }).action)).toEqual([
    'session-opened',
    'session-expiring',
  ]);
  await clock.advance(60_000);
  expect(await session.end()).toEqual(expired);
});

test('K014: at expiry the remotes are gone, calls fail at once, and a later frame is not carried out', async () => {
  using clock = fakeClock(1_700_000_000_000);
  await using hub = await startHub({ limits });
  await using serving = await hub.connect({ ttlMs: 3_000 });
  await using caller = await hub.connect();
  await serving.serve('x', ['f']);
  await caller.event('remote-connected');
  const pending = caller.call('x', 'f');
  await serving.next('remote-call');
  await clock.advance(3_000);
  expect(await pending).toMatchObject({ code: 'remote-disconnected', executed: 'unknown' });
  serving.send({ action: 'remote-connect', nonce: 'late', body: { remotename: 'y', tools: [] } });
  expect(await serving.end()).toEqual(expired);
  expect(await caller.event('remote-disconnected')).toMatchObject({ body: { remotename: 'x' } });
  expect(await caller.call('x', 'f')).toMatchObject({
    error: "no connected remote named 'x'",
    code: 'remote-not-connected',
  });
  expect(await caller.remotes()).toEqual([]);
  expect(serving.replies.filter(({ nonce }) => nonce === 'late')).toEqual([]);
  await caller.close();
  await hub.idle();
});

test('K014: a frame that comes after the end is not carried out even if the timer is late', async () => {
  using _clock = fakeClock(1_700_000_000_000);
  await using hub = await startHub({ limits });
  await using session = await hub.connect({ ttlMs: 60_000 });
  await using other = await hub.connect();
  vi.setSystemTime(1_700_000_060_000); // time passes, timers do not run, as after the sleep of a machine
  session.send({ action: 'remote-connect', nonce: 'late', body: { remotename: 'y', tools: [] } });
  expect(await session.end()).toEqual(expired);
  expect(session.replies).toEqual([]);
  expect(await other.remotes()).toEqual([]);
});

test.each([
  ['a day beyond the longest timer', 2_147_483_647 + DAY],
  ['a hundred years', 100 * 365 * DAY],
  ['as far as a date can be', 8_640_000_000_000_000 - 1_700_000_000_000 - 1],
])('a session whose end is far away is not told and not closed: %s', async (_what, ms) => {
  using clock = fakeClock(1_700_000_000_000);
  await using hub = await startHub({ limits });
  await using session = await hub.open();
  const exp = Math.floor((1_700_000_000_000 + ms) / 1_000);
  expect(await logIn(session, { token: await signed({ exp }) })).toMatchObject({ expiresAt: exp * 1_000 });
  await session.event('session-opened');
  await clock.advance(1_000);
  await session.settle();
  expect(session.events).toEqual([]);
});

test('an end beyond the last date counts as the last date', async () => {
  await using hub = await startHub();
  await using session = await hub.open();
  expect(await logIn(session, { token: await signed({ exp: 1e300 }) })).toMatchObject({
    expiresAt: 8_640_000_000_000_000,
  });
  await session.settle();
});

test('a session that logged in with a password does not end', async () => {
  using clock = fakeClock();
  await using hub = await startHub({
    limits,
    auth: { users: [await userOf('ann')] },
  });
  await using session = await hub.open();
  await logIn(session, { username: 'ann', password: passwordOf('ann') });
  await clock.advance(599_000);
  await session.settle();
  expect(session.events.map(({ action }) => action)).toEqual(['session-opened']);
});

test('an own identity that has ended already is closed at once, with 4401, and leaves nothing', async () => {
  const logins = heldLogins();
  await using hub = await startHub({}, logins);
  await using session = await hub.open();
  session.send({ action: 'authenticate', nonce: 'l', body: { token: 'x' } });
  session.send({ action: 'remote-connect', nonce: 'c', body: { remotename: 'x', tools: [] } });
  (await logins.next()).decide({ userId: 'u1', expiresAt: Date.now() - 1 });
  expect(await session.end()).toEqual(expired);
  await hub.idle();
  expect(hub.hub.counts()).toMatchObject({ remotes: 0, providers: 0 });
});

// Expiry by itself

function watched() {
  const calls: string[] = [];
  const expiry = new Expiry({
    expiresSoon: (at) => void calls.push(`soon ${at}`),
    expired: () => void calls.push('now'),
  });
  return { expiry, calls };
}

test('an end further away than the longest timer is waited for to the millisecond', async () => {
  using clock = fakeClock(0);
  const { expiry, calls } = watched();
  const end = 3 * 2_147_483_647 + 5;
  expiry.set(end);
  await clock.advance(end - 60_001);
  expect(calls).toEqual([]);
  await clock.advance(1);
  expect(calls).toEqual([`soon ${end}`]);
  await clock.advance(59_999);
  expect(calls).toHaveLength(1);
  await clock.advance(1);
  expect(calls).toEqual([`soon ${end}`, 'now']);
  expect(expiry.expiresAt).toBeUndefined();
});

test('a new end takes the place of the old one, none at all too, and a disposed one never comes', async () => {
  using clock = fakeClock(0);
  const { expiry, calls } = watched();
  expiry.set(100_000);
  await clock.advance(50_000);
  expiry.set(200_000);
  await clock.advance(100_000);
  expect(calls).toEqual(['soon 100000', 'soon 200000']);
  expiry.set(undefined);
  await clock.advance(1_000_000);
  expect(expiry.runIfDue()).toBe(false);
  expiry.set(Date.now() + 70_000);
  expiry[Symbol.dispose]();
  await clock.advance(1_000_000);
  expect(calls).toHaveLength(2);
});

test('what is due runs once, whoever notices first', async () => {
  using clock = fakeClock(0);
  const { expiry, calls } = watched();
  expiry.set(70_000);
  vi.setSystemTime(69_999);
  expect(expiry.runIfDue()).toBe(false);
  vi.setSystemTime(70_000);
  expect(expiry.runIfDue()).toBe(true);
  expect(expiry.runIfDue()).toBe(false);
  await clock.advance(100_000);
  expect(calls).toEqual(['now']);
});
