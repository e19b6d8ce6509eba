import { expect, test } from 'vitest';
import { hashPassword } from '../../../server/src/passwords/passwords.js';
import { fakeClock } from '../../support/clock.js';
import type { TestHub } from '../../support/hub.js';
import { TestSession } from '../../support/session.js';
import {
  MARK,
  basic,
  bearer,
  invalid,
  logIn,
  openFrom,
  passwordOf,
  refusedUpgrade,
  requestToken,
  startHub,
  tooMany,
  userOf,
} from './fixtures.js';

const wrong = `not the ${MARK}`;
const right = passwordOf('ann');

/** Every way in, as attempts that say how they end. */
const entrances = {
  message: async (hub: TestHub, username: string, password: string) => {
    await using session = await hub.open();
    const { code, message } = await logIn(session, { username, password });
    return code ?? message;
  },
  upgrade: async (hub: TestHub, username: string, password: string) => {
    const { body, status } = await refusedUpgrade(hub.socketUrl, basic(username, password));
    const { code } = body as { code: string };
    expect(status).toBe(code === 'rate-limited' ? 429 : 401);
    return code;
  },
  http: async (hub: TestHub, username: string, password: string) => {
    const { body, status } = await requestToken(hub, { username, password });
    expect(status).toBe(body['code'] === 'rate-limited' ? 429 : body['code'] === undefined ? 200 : 401);
    return body['code'] ?? 'authenticated';
  },
} as const;

test('AUTH-13: beyond ten failures a minute a user name is rate-limited with the time to wait, by every way in', async () => {
  using clock = fakeClock(1_700_000_000_000);
  await using hub = await startHub({ auth: { users: [await userOf('ann')] } });
  for (let n = 0; n < 10; n += 1)
    expect(await entrances.upgrade(hub, 'ann', wrong)).toBe('invalid-credentials');
  await clock.advance(20_500);
  await using session = await hub.open();
  expect(await logIn(session, { username: 'ann', password: right })).toMatchObject({
    ...tooMany,
    retryAfterMs: 39_500,
  });
  expect(await refusedUpgrade(hub.socketUrl, basic('ann', right))).toMatchObject({
    status: 429,
    headers: { 'retry-after': '40' },
    body: tooMany,
  });
  const { status, headers, body } = await requestToken(hub, { username: 'ann', password: right });
  expect({ status, body, after: headers.get('retry-after') }).toEqual({
    status: 429,
    body: tooMany,
    after: '40',
  });
});

test('K140: failures count together over one socket, many sockets, upgrades and HTTP; then others and the cool-down', async () => {
  using clock = fakeClock(1_700_000_000_000);
  const limits = { maxAuthenticationFailures: 100, heartbeatMs: 600_000, authenticationTimeoutMs: 60_000 };
  await using hub = await startHub({ limits, auth: { users: [await userOf('ann'), await userOf('bob')] } });
  const codes: unknown[] = [];
  await using socket = await hub.open();
  for (let n = 0; n < 4; n += 1)
    codes.push((await logIn(socket, { username: 'ann', password: wrong }))['code']);
  for (let n = 0; n < 3; n += 1) codes.push(await entrances.message(hub, 'ann', wrong));
  for (let n = 0; n < 2; n += 1) codes.push(await entrances.http(hub, 'ann', wrong));
  codes.push(await entrances.upgrade(hub, 'ann', wrong));
  expect(codes).toEqual(Array.from({ length: 10 }, () => 'invalid-credentials'));

  for (const entrance of Object.values(entrances))
    for (const password of [wrong, right]) expect(await entrance(hub, 'ann', password)).toBe('rate-limited');
  await using elsewhere = await openFrom(hub, '127.0.0.9');
  expect(await logIn(elsewhere, { username: 'ann', password: right })).toMatchObject(tooMany);
  expect(await entrances.message(hub, 'bob', passwordOf('bob'))).toBe('authenticated');
  expect(await entrances.http(hub, 'bob', passwordOf('bob'))).toBe('authenticated');

  await clock.advance(59_999);
  expect(await entrances.http(hub, 'ann', right)).toBe('rate-limited');
  await clock.advance(1);
  expect(await entrances.message(hub, 'ann', right)).toBe('authenticated');
  expect(await entrances.http(hub, 'ann', right)).toBe('authenticated');
});

test('K140: a hundred wrong passwords at once, by every way in, are checked ten times', async () => {
  await using hub = await startHub({ auth: { users: [await userOf('ann')] } });
  const ways = Object.values(entrances);
  const attempts = Array.from({ length: 99 }, async (_, n) => ways[n % 3]?.(hub, 'ann', wrong));
  const codes = await Promise.all(attempts);
  expect(codes.filter((code) => code === 'invalid-credentials')).toHaveLength(10);
  expect(codes.filter((code) => code === 'rate-limited')).toHaveLength(89);
  await hub.idle();
});

test('K140: excess attempts are refused without the work of a check', async () => {
  const costly = { username: 'ann', passwordHash: await hashPassword(right, { ln: 15, r: 8, p: 1 }) };
  await using hub = await startHub({ limits: { maxAttemptsPerUser: 1 }, auth: { users: [costly] } });
  const timeOf = async (attempt: () => Promise<unknown>): Promise<number> => {
    const start = performance.now();
    await attempt();
    return performance.now() - start;
  };
  const checked = await timeOf(() => requestToken(hub, { username: 'ann', password: wrong }));
  const times: number[] = [];
  for (let n = 0; n < 9; n += 1)
    times.push(await timeOf(() => requestToken(hub, { username: 'ann', password: right })));
  expect(Math.min(...times)).toBeLessThan(checked / 4);
});

test('K140: an address that fails too often is limited for every account and for tokens; another one is not', async () => {
  const users = await Promise.all(['ann', 'bob', 'cid'].map((name) => userOf(name)));
  await using hub = await startHub({ limits: { maxAttemptsPerAddress: 4 }, auth: { users } });
  expect(await entrances.http(hub, 'ann', wrong)).toBe('invalid-credentials');
  expect(await entrances.upgrade(hub, 'bob', wrong)).toBe('invalid-credentials');
  expect(await entrances.message(hub, 'nobody', wrong)).toBe('invalid-credentials');
  expect(await refusedUpgrade(hub.socketUrl, bearer(MARK))).toMatchObject({ status: 401, body: invalid });
  expect(await entrances.message(hub, 'cid', passwordOf('cid'))).toBe('rate-limited');
  expect(await refusedUpgrade(hub.socketUrl, bearer(await hub.token()))).toMatchObject({
    status: 429,
    body: tooMany,
  });
  await using elsewhere = await openFrom(hub, '127.0.0.9', basic('cid', passwordOf('cid')));
  await elsewhere.event('session-opened');
  await using byToken = await openFrom(hub, '127.0.0.9', bearer(await hub.token()));
  await byToken.event('session-opened');
});

test('right passwords cost nothing, however many', async () => {
  const limits = { maxAttemptsPerUser: 2, maxAttemptsPerAddress: 2 };
  await using hub = await startHub({ limits, auth: { users: [await userOf('ann')] } });
  for (let n = 0; n < 5; n += 1) {
    expect(await entrances.http(hub, 'ann', right)).toBe('authenticated');
    expect(await entrances.message(hub, 'ann', right)).toBe('authenticated');
  }
});

test('AUTH-13: three rate-limited attempts close a connection like any failures', async () => {
  await using hub = await startHub({
    limits: { maxAttemptsPerUser: 1 },
    auth: { users: [await userOf('ann')] },
  });
  await entrances.http(hub, 'ann', wrong);
  await using session = await hub.open();
  for (let n = 0; n < 3; n += 1)
    expect(await logIn(session, { username: 'ann', password: right })).toMatchObject(tooMany);
  expect(await session.end()).toEqual({ code: 4401, reason: 'too many failed logins' });
});

test('K139: an unknown user and a wrong password get the same answers and closes, by every way in', async () => {
  const limits = { maxAttemptsPerUser: 100, maxAuthenticationFailures: 2 };
  await using hub = await startHub({ limits, auth: { users: [await userOf('ann')] } });
  const answersTo = async (username: string): Promise<unknown[]> => {
    await using session = await hub.open();
    const first = await logIn(session, { username, password: wrong });
    const second = await logIn(session, { username, password: wrong });
    const upgrade = await refusedUpgrade(hub.socketUrl, basic(username, wrong));
    const { status, body } = await requestToken(hub, { username, password: wrong });
    return [first, second, await session.end(), upgrade, { status, body }];
  };
  const known = await answersTo('ann');
  expect(known).toMatchObject([
    { ...invalid, nonce: 't1' },
    { ...invalid, nonce: 't2' },
    { code: 4401, reason: 'too many failed logins' },
    { status: 401, body: invalid },
    { status: 401, body: invalid },
  ]);
  for (const name of ['nobody', 'constructor', 'Ann', 'ann ']) expect(await answersTo(name)).toEqual(known);
});

test('K139: an unknown user and a wrong password take the same time', async () => {
  const limits = { maxAttemptsPerUser: 1_000, maxAttemptsPerAddress: 1_000, maxAuthenticationFailures: 100 };
  const passwordHash = await hashPassword(right, { ln: 13, r: 8, p: 1 });
  await using hub = await startHub({ limits, auth: { users: [{ username: 'ann', passwordHash }] } });
  const times = { ann: [] as number[], nobody: [] as number[] };
  await using session = await hub.open();
  for (let n = 0; n < 30; n += 1) {
    const username = n % 2 === 0 ? 'ann' : 'nobody';
    const start = performance.now();
    expect(await logIn(session, { username, password: wrong })).toMatchObject(invalid);
    times[username].push(performance.now() - start);
  }
  const median = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
  const ratio = median(times.nobody) / median(times.ann);
  expect(ratio).toBeGreaterThan(0.5);
  expect(ratio).toBeLessThan(2);
});

test('names that differ by form or case are different accounts; a password’s form does not matter', async () => {
  const composed = 'Zo\u00eb';
  await using hub = await startHub({ auth: { users: [await userOf(composed, `${MARK} caf\u00e9`)] } });
  await using session = await TestSession.open(hub.socketUrl, [], {
    headers: basic(composed, `${MARK} cafe\u0301`),
  });
  await session.event('session-opened');
  expect(await entrances.message(hub, 'Zoe\u0308', `${MARK} caf\u00e9`)).toBe('invalid-credentials');
  expect(await entrances.message(hub, composed.toUpperCase(), `${MARK} caf\u00e9`)).toBe(
    'invalid-credentials',
  );
});
