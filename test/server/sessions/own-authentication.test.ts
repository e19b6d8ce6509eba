import { AuthenticationError, createHub } from '@remotes-hub/server';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { TestSession } from '../../support/session.js';
import {
  MARK,
  basic,
  bearer,
  having,
  heldLogins,
  invalid,
  logIn,
  openFrom,
  refusedUpgrade,
  requestToken,
  startHub,
  tooMany,
} from './fixtures.js';

const unchecked = { error: 'the login cannot be checked at the moment', code: 'internal-error' };

test('an own function decides, at once or later; it sees the credentials and the address', async () => {
  const seen: unknown[] = [];
  for (const isAsync of [false, true]) {
    const identity = { userId: 'ada', expiresAt: 4_000_000_000_000 };
    const authenticate = (credentials: unknown, origin: unknown) => {
      seen.push([credentials, origin]);
      return isAsync ? Promise.resolve(identity) : identity;
    };
    await using hub = await startHub({}, { authenticate });
    await using session = await hub.open();
    expect(await logIn(session, { token: 'a ticket' })).toMatchObject({
      message: 'authenticated',
      userId: 'ada',
      expiresAt: 4_000_000_000_000,
    });
    await using byBasic = await TestSession.open(hub.socketUrl, [], { headers: basic('ann', `${MARK}:é`) });
    await byBasic.event('session-opened');
    await using byBearer = await openFrom(hub, '127.0.0.7', bearer('a ticket'));
    await byBearer.event('session-opened');
  }
  const local = { address: '127.0.0.1' };
  const once = [
    [{ token: 'a ticket' }, local],
    [{ username: 'ann', password: `${MARK}:é` }, local],
    [{ token: 'a ticket' }, { address: '127.0.0.7' }],
  ];
  expect(seen).toMatchObject([...once, ...once]);
});

test('an own identity without expiresAt does not end, one with it ends then', async () => {
  using clock = fakeClock(1_700_000_000_000);
  const logins = heldLogins();
  await using hub = await startHub({ limits: { heartbeatMs: 600_000 } }, logins);
  await using endless = await hub.open();
  await using ending = await hub.open();
  for (const [session, expiresAt] of [
    [endless, undefined],
    [ending, 1_700_000_090_000],
  ] as const) {
    const reply = logIn(session, { token: 'x' });
    (await logins.next()).decide({ userId: 'u1', expiresAt });
    expect((await reply)['expiresAt']).toBe(expiresAt);
  }
  await clock.advance(90_000);
  expect(await ending.end()).toMatchObject({ code: 4401 });
  await endless.settle();
});

test.each([
  ['null', null],
  ['undefined', undefined],
])('an own %s is a refusal, by both ways in', async (_what, answer) => {
  await using hub = await startHub({}, { authenticate: () => answer });
  await using session = await hub.open();
  expect(await logIn(session, { token: MARK })).toEqual({ ...invalid, nonce: 't1' });
  expect(await refusedUpgrade(hub.socketUrl, bearer(MARK))).toMatchObject({ status: 401, body: invalid });
  expect(hub.logs.filter(({ level }) => level === 50)).toEqual([]);
});

test.each([
  ['true', true],
  ['a user id alone', 'u1'],
  ['no userId', {}],
  ['an empty userId', { userId: '' }],
  ['a number as userId', { userId: 7 }],
  ['a userId of 257 characters', { userId: 'x'.repeat(257) }],
  ['expiresAt as text', { userId: 'u1', expiresAt: '4000000000000' }],
  ['expiresAt as a date', { userId: 'u1', expiresAt: new Date(4_000_000_000_000) }],
  ['expiresAt null', { userId: 'u1', expiresAt: null }],
  ['expiresAt NaN', { userId: 'u1', expiresAt: Number.NaN }],
  ['expiresAt without end', { userId: 'u1', expiresAt: Infinity }],
  ['a fraction', { userId: 'u1', expiresAt: 4_000_000_000_000.5 }],
])('an own answer of a wrong shape logs nobody in, and the log says so: %s', async (_what, answer) => {
  const logins = heldLogins();
  await using hub = await startHub({}, logins);
  await using session = await hub.open();
  const reply = logIn(session, { token: MARK });
  (await logins.next()).decide(answer);
  expect(await reply).toEqual({ ...invalid, nonce: 't1' });
  expect(hub.logs).toContainEqual(
    having({ level: 50, msg: 'own authentication gave neither an identity nor null' }),
  );
  expect(hub.hub.counts().sessions).toBe(0);
});

test('an own function that throws or rejects is one generic answer and a line in the log', async () => {
  const failures = [
    () => {
      throw new Error('the data base is away');
    },
    () => Promise.reject(new Error('the data base is away')),
    () => Promise.reject(Object.assign(new Error('the data base is away'), { code: 'ECONNREFUSED' })),
  ];
  for (const authenticate of failures) {
    await using hub = await startHub({}, { authenticate });
    await using session = await hub.open();
    expect(await logIn(session, { token: MARK })).toEqual({ ...unchecked, nonce: 't1' });
    expect(await refusedUpgrade(hub.socketUrl, bearer(MARK))).toMatchObject({ status: 503, body: unchecked });
    expect(hub.logs).toContainEqual(
      having({
        level: 50,
        msg: 'own authentication failed',
        err: having({ message: 'the data base is away' }),
      }),
    );
  }
});

test('an own function may refuse with words and a code of its own', async () => {
  const error = new AuthenticationError('rate-limited', 'come back tomorrow', 86_400_000);
  await using hub = await startHub({}, { authenticate: () => Promise.reject(error) });
  await using session = await hub.open();
  expect(await logIn(session, { token: MARK })).toEqual({
    error: 'come back tomorrow',
    code: 'rate-limited',
    retryAfterMs: 86_400_000,
    nonce: 't1',
  });
  expect(await refusedUpgrade(hub.socketUrl, bearer(MARK))).toMatchObject({
    status: 429,
    headers: { 'retry-after': '86400' },
  });
});

test('AUTH-13: an own function is limited too: by address for tokens, and by user name for passwords', async () => {
  const asked: unknown[] = [];
  const authenticate = (credentials: unknown) => {
    asked.push(credentials);
    return null;
  };
  const limits = { maxAttemptsPerAddress: 5, maxAttemptsPerUser: 2 };
  await using hub = await startHub({ limits }, { authenticate });
  for (let n = 0; n < 2; n += 1)
    expect(await refusedUpgrade(hub.socketUrl, basic('ann', MARK))).toMatchObject({ status: 401 });
  expect(await refusedUpgrade(hub.socketUrl, basic('ann', MARK))).toMatchObject({
    status: 429,
    body: tooMany,
  });
  for (let n = 0; n < 3; n += 1)
    expect(await refusedUpgrade(hub.socketUrl, bearer(MARK))).toMatchObject({ status: 401 });
  expect(await refusedUpgrade(hub.socketUrl, bearer(MARK))).toMatchObject({ status: 429, body: tooMany });
  expect(asked).toHaveLength(5);
});

test('K140: passwords side by side cannot slip past the limit of an own function', async () => {
  const logins = heldLogins();
  await using hub = await startHub({ limits: { maxAttemptsPerUser: 2 } }, logins);
  const statuses: unknown[] = [];
  const attempts = Array.from({ length: 10 }, async () => {
    statuses.push((await refusedUpgrade(hub.socketUrl, basic('ann', MARK))).status);
  });
  const held = [await logins.next(), await logins.next()];
  await eventually(() => statuses.length === 8, 'the refusal of eight');
  expect(new Set(statuses)).toEqual(new Set([429]));
  for (const { decide } of held) decide(null);
  await Promise.all(attempts);
  expect(statuses.slice(8)).toEqual([401, 401]);
  expect(logins.count()).toBe(0);
});

test.each([
  ['an unavailable check', () => Promise.reject(new Error('the data base is away'))],
  ['a good login', () => ({ userId: 'u1' })],
])('%s counts as no failure', async (_what, authenticate) => {
  await using hub = await startHub(
    { limits: { maxAttemptsPerAddress: 1, maxAttemptsPerUser: 1 } },
    { authenticate },
  );
  for (let n = 0; n < 3; n += 1) {
    await using session = await hub.open();
    for (const body of [{ token: MARK }, { username: 'ann', password: MARK }])
      expect((await logIn(session, body))['code']).not.toBe('rate-limited');
  }
});

test('an own refusal by AuthenticationError counts as a failure', async () => {
  const authenticate = () =>
    Promise.reject(new AuthenticationError('invalid-credentials', 'you are blocked'));
  await using hub = await startHub({ limits: { maxAttemptsPerAddress: 1 } }, { authenticate });
  expect(await refusedUpgrade(hub.socketUrl, bearer(MARK))).toMatchObject({
    status: 401,
    body: { error: 'you are blocked', code: 'invalid-credentials' },
  });
  expect(await refusedUpgrade(hub.socketUrl, bearer(MARK))).toMatchObject({ status: 429, body: tooMany });
});

test('a hub with an own function issues no tokens', async () => {
  await using hub = await startHub({}, { authenticate: () => ({ userId: 'u1' }) });
  expect(await requestToken(hub, { username: 'ann', password: MARK })).toMatchObject({
    status: 404,
    body: { error: 'this hub issues no tokens', code: 'unknown-action' },
  });
  await expect(hub.hub.issueToken('u1')).rejects.toThrow(TypeError);
});

test('a hub on every address needs somebody who says who may log in; an own function is enough', async () => {
  expect(() => createHub({ config: { host: '0.0.0.0' } })).toThrow('nothing says who may log in');
  await using hub = createHub({ config: { host: '0.0.0.0' }, authenticate: () => null });
  expect(hub.counts().sessions).toBe(0);
});
