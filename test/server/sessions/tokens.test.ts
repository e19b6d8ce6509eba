import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { TEST_SECRET, type TestHub } from '../../support/hub.js';
import { TestSession } from '../../support/session.js';
import {
  MARK,
  bearer,
  handMade,
  invalid,
  logIn,
  nowSeconds,
  refusedUpgrade,
  requestToken,
  signed,
  startHub,
  userOf,
  passwordOf,
} from './fixtures.js';

const limits = { maxAuthenticationFailures: 100, maxAttemptsPerAddress: 1_000 };

/** Refused by header and by message, in the same words. */
async function expectRefused(hub: TestHub, token: string): Promise<void> {
  expect(await refusedUpgrade(hub.socketUrl, bearer(token))).toMatchObject({ status: 401, body: invalid });
  await using session = await hub.open();
  expect(await logIn(session, { token })).toEqual({ ...invalid, nonce: 't1' });
}

/** Logs in by header and by message, as this user. */
async function expectAccepted(hub: TestHub, token: string, userId = 'u1'): Promise<void> {
  await using byHeader = await TestSession.open(hub.socketUrl, [], { headers: bearer(token) });
  await byHeader.event('session-opened');
  await using session = await hub.open();
  expect(await logIn(session, { token })).toMatchObject({ message: 'authenticated', userId });
}

/** A token with this header, signed by HMAC SHA-256 whatever the header says. */
function signedAs(header: object, claims: object = { sub: 'u1', exp: nowSeconds() + 60 }, key = TEST_SECRET) {
  const unsigned = handMade(header, claims).slice(0, -1);
  return `${unsigned}.${createHmac('sha256', key).update(unsigned).digest('base64url')}`;
}

test('AUTH-11: a token signed with the secret logs its sub in, any text of up to 256 characters', async () => {
  await using hub = await startHub();
  for (const sub of ['ada', '木 🗝', '__proto__', 'a:b/c', ' ', 'x'.repeat(256)])
    await expectAccepted(hub, await signed({ sub }), sub);
  await expectRefused(hub, await signed({}, `another secret, ${MARK}, long enough for HS256`));
  await expectRefused(hub, `${(await signed()).slice(0, -2)}AA`);
  await expectRefused(hub, `${await signed()}.`);
  await expectRefused(hub, (await signed()).split('.').slice(0, 2).join('.'));
});

test('AUTH-11: iss and aud must be as configured; among several audiences one is enough', async () => {
  await using hub = await startHub({ limits, auth: { issuer: 'https://id.example', audience: 'hub' } });
  const good = { iss: 'https://id.example', aud: 'hub' };
  await expectAccepted(hub, await signed(good));
  await expectAccepted(hub, await signed({ ...good, aud: ['others', 'hub'] }));
  await expectAccepted(hub, await hub.token()); // its own tokens have them
  for (const claims of [
    { aud: 'hub' },
    { iss: 'https://id.example' },
    { ...good, iss: 'https://id.example/' },
    { ...good, aud: 'Hub' },
    { ...good, aud: ['others'] },
    { ...good, aud: 7 },
  ])
    await expectRefused(hub, await signed(claims));
});

test('AUTH-11: tokens of others’ issuers and audiences log in where none is configured', async () => {
  await using hub = await startHub();
  await expectAccepted(hub, await signed({ iss: 'anybody', aud: ['anything'] }));
});

test.each(['none', 'None', 'nOnE', 'NONE', ''])(
  'K131: a token with algorithm "%s" is refused',
  async (alg) => {
    await using hub = await startHub({ limits });
    const claims = { sub: 'admin', exp: nowSeconds() + 3_600 };
    await expectRefused(hub, handMade({ alg }, claims));
    await expectRefused(hub, handMade({ alg, typ: 'JWT' }, claims, 'AAAA'));
    await expectRefused(hub, signedAs({ alg }, claims));
  },
);

test.each([
  ['HS384', { alg: 'HS384' }],
  ['HS512', { alg: 'HS512' }],
  ['another case of HS256', { alg: 'hs256' }],
  ['no algorithm', {}],
  ['an algorithm that is no text', { alg: ['HS256'] }],
  ['an outside algorithm without a key set', { alg: 'RS256', kid: 'k1' }],
  ['a critical extension', { alg: 'HS256', crit: ['b64'], b64: false }],
  ['an unknown critical extension', { alg: 'HS256', crit: ['x'], x: 1 }],
])('K131: a header with %s is refused although the signature is the secret’s', async (_what, header) => {
  await using hub = await startHub({ limits });
  await expectAccepted(hub, signedAs({ alg: 'HS256' }));
  await expectRefused(hub, signedAs(header));
});

test('K136: exp and nbf have the same tolerance of 5 s, and iat is not looked at', async () => {
  using _clock = fakeClock(1_700_000_000_000);
  await using hub = await startHub({ limits });
  const now = 1_700_000_000;
  for (const claims of [{ nbf: now + 3 }, { nbf: now + 5 }, { exp: now - 3 }, { exp: now - 4 }])
    await expectAccepted(hub, await signed(claims));
  for (const claims of [{ iat: now + 3 }, { iat: now + 600 }])
    await expectAccepted(hub, await signed(claims));
  for (const claims of [{ nbf: now + 6 }, { nbf: now + 600 }, { exp: now - 5 }, { exp: now - 600 }])
    await expectRefused(hub, await signed(claims));
});

test('K136: a session of a token that has just expired lives until the tolerance has passed', async () => {
  using clock = fakeClock(1_700_000_000_000);
  await using hub = await startHub();
  await using session = await hub.open();
  const reply = await logIn(session, { token: await signed({ exp: 1_700_000_000 - 3 }) });
  expect(reply).toMatchObject({ expiresAt: 1_700_000_002_000 });
  await clock.advance(1_999);
  await session.settle();
  await clock.advance(1);
  expect(await session.end()).toMatchObject({ code: 4401 });
});

test.each([
  ['no exp', { exp: undefined }],
  ['exp as text', { exp: '4000000000' }],
  ['exp null', { exp: null }],
  ['exp as a list', { exp: [4_000_000_000] }],
  ['exp far in the past', { exp: -1 }],
  ['nbf as text', { nbf: '1' }],
  ['no sub', { sub: undefined }],
  ['an empty sub', { sub: '' }],
  ['a number as sub', { sub: 7 }],
  ['an object as sub', { sub: { a: 1 } }],
  ['null as sub', { sub: null }],
  ['a list as sub', { sub: ['u1'] }],
  ['a sub of 257 characters', { sub: 'x'.repeat(257) }],
])('K138: a token with %s is refused by both ways in, like any bad one', async (_what, claims) => {
  await using hub = await startHub({ limits });
  const all = { sub: 'u1', exp: nowSeconds() + 3_600, ...claims };
  await expectRefused(hub, signedAs({ alg: 'HS256' }, all));
});

test.each([
  ['claims that are no object', '7'],
  ['claims that are a list', '[1]'],
  ['claims that are not JSON', '{'],
])('K138: a token with %s is refused', async (_what, claims) => {
  await using hub = await startHub({ limits });
  const unsigned = [JSON.stringify({ alg: 'HS256' }), claims]
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
  const signature = createHmac('sha256', TEST_SECRET).update(unsigned).digest('base64url');
  await expectRefused(hub, `${unsigned}.${signature}`);
});

test('a hub without a secret refuses HS256 tokens, and has none to give', async () => {
  await using hub = await startHub({ auth: { secret: undefined, users: [await userOf('ann')] } });
  await expectRefused(hub, await signed({ sub: 'ann' }));
  await expectRefused(hub, signedAs({ alg: 'HS256' }, { sub: 'ann', exp: 4_000_000_000 }, ''));
  await expect(hub.hub.issueToken('ann')).rejects.toThrow(
    'this hub issues no tokens: auth.secret is not configured',
  );
  expect(await requestToken(hub, { username: 'ann', password: passwordOf('ann') })).toMatchObject({
    status: 404,
    body: { error: 'this hub issues no tokens', code: 'unknown-action' },
  });
});
