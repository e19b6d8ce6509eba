import { writeFile } from 'node:fs/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { authSchema, limitsSchema } from '../../../server/src/config/config-schema.js';
import { BuiltInAuthenticator } from '../../../server/src/authentication/built-in-authenticator.js';
import { hashPassword, type PasswordCost } from '../../../server/src/passwords/passwords.js';
import { addUser } from '../../../server/src/authentication/users.js';
import {
  KeptLog,
  SECRET,
  hubToken,
  invalid,
  issuerKey,
  lightCost,
  refusalOf,
  startIssuer,
  temporaryFolder,
} from './fixtures.js';

const MINUTE = 60_000;
const origin = { address: '192.0.2.1' };
const limits = limitsSchema.parse({});

const userOf = async (username: string, cost: PasswordCost = lightCost) => ({
  username,
  passwordHash: await hashPassword(`password of ${username}`, cost),
});

async function startAuthenticator(auth: object, allowed = limits) {
  const logger = new KeptLog();
  const authenticator = new BuiltInAuthenticator({ auth: authSchema.parse(auth), limits: allowed, logger });
  await authenticator.start();
  return Object.assign(authenticator, {
    logger,
    logIn: async (username: string, password = `password of ${username}`, address = origin.address) =>
      authenticator.authenticate({ username, password }, { address }),
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

afterEach(() => {
  vi.useRealTimers();
});

test('a password and a token log the same user in; only the token ends', async () => {
  using hub = await startAuthenticator({ secret: SECRET, users: [await userOf('ann')] });
  expect(await hub.logIn('ann')).toEqual({ userId: 'ann' });
  const token = await hubToken({ sub: 'ann', exp: 4_000_000_000 });
  expect(await hub.authenticate({ token }, origin)).toEqual({ userId: 'ann', expiresAt: 4_000_000_000_000 });
});

test('a login can be exchanged for a token, which logs in until it ends', async () => {
  using hub = await startAuthenticator({ secret: SECRET, tokenTtlSeconds: 60, users: [await userOf('ann')] });
  expect(hub.canIssueTokens).toBe(true);
  const { token, expiresAt } = await hub.login('ann', 'password of ann', origin);
  expect(await hub.authenticate({ token }, origin)).toEqual({ userId: 'ann', expiresAt });
  expect(await refusalOf(hub.login('ann', 'wrong', origin))).toMatchObject(invalid);
});

test('a token of the hub is decided at once, without a promise, and refused by one', async () => {
  using hub = await startAuthenticator({ secret: SECRET });
  const token = await hubToken({ sub: 'ann', exp: 4_000_000_000 });
  expect(hub.authenticate({ token }, origin)).toEqual({ userId: 'ann', expiresAt: 4_000_000_000_000 });
  expect(await refusalOf(hub.authenticate({ token: `${token}A` }, origin))).toMatchObject(invalid);
});

test('a user added to the file logs in without a restart', async () => {
  await using folder = await temporaryFolder();
  const usersFile = folder.file('users.json');
  await writeFile(usersFile, '{"users":[]}');
  using hub = await startAuthenticator({ usersFile });
  expect(await refusalOf(hub.logIn('ann'))).toMatchObject(invalid);
  await addUser(usersFile, 'ann', await hashPassword('password of ann', lightCost));
  expect(await hub.logIn('ann')).toEqual({ userId: 'ann' });
});

test('K139: an unknown user and a wrong password are refused with one text, in the same time', async () => {
  const cost = { ln: 13, r: 8, p: 2 };
  const allowed = { ...limits, maxAttemptsPerUser: 1_000, maxAttemptsPerAddress: 1_000 };
  using hub = await startAuthenticator({ secret: SECRET, users: [await userOf('ann', cost)] }, allowed);
  const timeOf = async (username: string): Promise<number> => {
    const start = performance.now();
    const { code, message } = await refusalOf(hub.logIn(username, 'wrong'));
    expect({ code, message }).toEqual(invalid);
    return performance.now() - start;
  };
  const known: number[] = [];
  const unknown: number[] = [];
  await timeOf('ann');
  for (let n = 0; n < 15; n += 1) {
    known.push(await timeOf('ann'));
    unknown.push(await timeOf('nobody'));
  }
  const ratio = median(unknown) / median(known);
  expect(ratio).toBeGreaterThan(0.5);
  expect(ratio).toBeLessThan(2);
  expect(await refusalOf(hub.authenticate({ token: 'bad' }, origin))).toMatchObject(invalid);
});

test('K140: wrong passwords by every way in share one budget; other accounts and the time after it are free', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  using hub = await startAuthenticator({ secret: SECRET, users: [await userOf('ann'), await userOf('bob')] });
  const attempts = Array.from({ length: 100 }, (_, n) =>
    refusalOf(n % 2 === 0 ? hub.logIn('ann', 'wrong') : hub.login('ann', 'wrong', origin)),
  );
  const codes = (await Promise.all(attempts)).map(({ code }) => code);
  expect(codes.filter((code) => code === 'invalid-credentials')).toHaveLength(limits.maxAttemptsPerUser);
  expect(codes.filter((code) => code === 'rate-limited')).toHaveLength(90);

  const right = await refusalOf(hub.logIn('ann')); // not even checked
  expect(right).toMatchObject({ code: 'rate-limited', message: 'too many attempts to log in' });
  expect(await refusalOf(hub.logIn('ann', 'password of ann', '198.51.100.7'))).toMatchObject({
    code: 'rate-limited',
  });
  expect(await hub.logIn('bob')).toEqual({ userId: 'bob' });

  vi.advanceTimersByTime(right.retryAfterMs ?? MINUTE);
  expect(await hub.logIn('ann')).toEqual({ userId: 'ann' });
});

test('refused tokens use up the budget of their address and of no other', async () => {
  using hub = await startAuthenticator({ secret: SECRET }, { ...limits, maxAttemptsPerAddress: 3 });
  const token = await hubToken({});
  const bad = await hubToken({}, 'another secret, also longer than 32 bytes');
  for (let n = 0; n < 3; n += 1) {
    expect(await refusalOf(hub.authenticate({ token: bad }, origin))).toMatchObject(invalid);
  }
  expect(await refusalOf(hub.authenticate({ token }, origin))).toMatchObject({ code: 'rate-limited' });
  expect(await hub.authenticate({ token }, { address: '192.0.2.2' })).toMatchObject({ userId: 'u1' });
});

test('good logins, many at once from one address, are all accepted', async () => {
  using hub = await startAuthenticator({ secret: SECRET }, { ...limits, maxAttemptsPerAddress: 3 });
  const token = await hubToken({});
  const logins = Array.from({ length: 200 }, async () => hub.authenticate({ token }, origin));
  expect(await Promise.all(logins)).toHaveLength(200);
});

test('K134: keys that cannot be fetched count against nobody', async () => {
  const key = await issuerKey('k1');
  await using issuer = await startIssuer(key.jwk);
  using hub = await startAuthenticator(
    { jwksUrl: issuer.url, audience: 'hub' },
    { ...limits, maxAttemptsPerAddress: 1 },
  );
  const token = await key.sign({ aud: 'hub' });
  issuer.answer = (response) => response.destroy();
  for (let n = 0; n < 3; n += 1) {
    expect(await refusalOf(hub.authenticate({ token }, origin))).toMatchObject({ code: 'internal-error' });
  }
  issuer.answer = undefined;
  expect(await hub.authenticate({ token }, origin)).toMatchObject({ userId: 'u1' });
});

test('more checks at once than may wait are refused, and count against nobody', async () => {
  const allowed = { ...limits, maxAttemptsPerUser: 100, maxAttemptsPerAddress: 100 };
  using hub = await startAuthenticator({ users: [await userOf('ann')] }, allowed);
  const outcomes = await Promise.allSettled(Array.from({ length: 90 }, () => hub.logIn('ann')));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(66);
  for (let n = 0; n < 12; n += 1) await hub.logIn('ann');
});

test('names and passwords beyond the bounds of the protocol are refused like wrong ones', async () => {
  using hub = await startAuthenticator({ users: [await userOf('ann')] });
  expect(await refusalOf(hub.logIn('a'.repeat(257)))).toMatchObject(invalid);
  expect(await refusalOf(hub.logIn('ann', 'p'.repeat(1_025)))).toMatchObject(invalid);
});

test('the log tells of failed attempts without password, token or hash, and with a bounded name', async () => {
  using hub = await startAuthenticator({ secret: SECRET, users: [await userOf('ann')] });
  const token = await hubToken({ sub: 'tina' }, 'another secret, also longer than 32 bytes');
  await refusalOf(hub.logIn('ann', 'hunter2'));
  await refusalOf(hub.logIn('x'.repeat(5_000), 'hunter2'));
  await refusalOf(hub.authenticate({ token }, origin));

  const code = 'invalid-credentials';
  expect(hub.logger.lines).toEqual([
    {
      level: 'info',
      text: 'login refused',
      facts: { ...origin, username: 'ann', code, reason: 'wrong password' },
    },
    {
      level: 'info',
      text: 'login refused',
      facts: { ...origin, username: 'x'.repeat(64), code, reason: 'the user name or password is too long' },
    },
    {
      level: 'info',
      text: 'login refused',
      facts: { ...origin, code, reason: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' },
    },
  ]);
});

test('a wrong configuration is refused at the start', async () => {
  await expect(startAuthenticator({ secret: 'short' })).rejects.toThrow(
    'auth.secret: expected at least 32 bytes',
  );
  await expect(startAuthenticator({ users: [{ username: 'ann', passwordHash: 'x' }] })).rejects.toThrow(
    'auth.users.0.passwordHash',
  );
});
