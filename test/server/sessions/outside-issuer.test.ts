import { createHmac } from 'node:crypto';
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { expect, test, vi } from 'vitest';
import type { TestHub } from '../../support/hub.js';
import { TestSession } from '../../support/session.js';
import { issuerKey, startIssuer } from '../authentication/fixtures.js';
import {
  bearer,
  expectNoSecret,
  handMade,
  having,
  invalid,
  logIn,
  nowSeconds,
  refusedUpgrade,
  signed,
  startHub,
} from './fixtures.js';

const limits = { maxAuthenticationFailures: 100, maxAttemptsPerAddress: 1_000 };
const claims = { aud: 'hub', iss: 'https://id.example' };
const unavailable = { error: 'the keys of the token issuer cannot be fetched', code: 'internal-error' };

async function expectAccepted(hub: TestHub, token: string): Promise<void> {
  await using byHeader = await TestSession.open(hub.socketUrl, [], { headers: bearer(token) });
  await byHeader.event('session-opened');
  await using session = await hub.open();
  expect(await logIn(session, { token })).toMatchObject({ message: 'authenticated', userId: 'u1' });
}

async function expectRefused(hub: TestHub, token: string): Promise<void> {
  expect(await refusedUpgrade(hub.socketUrl, bearer(token))).toMatchObject({ status: 401, body: invalid });
  await using session = await hub.open();
  expect(await logIn(session, { token })).toEqual({ ...invalid, nonce: 't1' });
}

/** A hub that trusts an issuer with these keys. */
async function trusting(...keys: Awaited<ReturnType<typeof issuerKey>>[]) {
  const issuer = await startIssuer(...keys.map(({ jwk }) => jwk));
  const auth = { jwksUrl: issuer.url, audience: 'hub', issuer: 'https://id.example' };
  const hub = await startHub({ limits, auth });
  return {
    hub,
    issuer,
    [Symbol.asyncDispose]: async () => {
      await hub[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

test('AUTH-12: tokens of the outside issuer log in by both ways, beside the hub’s own', async () => {
  const key = await issuerKey('k1');
  await using parts = await trusting(key);
  await expectAccepted(parts.hub, await key.sign(claims));
  await expectAccepted(parts.hub, await parts.hub.token());
  await using session = await parts.hub.open();
  const exp = nowSeconds() + 600;
  expect(await logIn(session, { token: await key.sign({ ...claims, exp }) })).toMatchObject({
    expiresAt: exp * 1_000,
  });
});

test('AUTH-12: a token for others, of another issuer, expired, or without exp or sub is refused', async () => {
  const key = await issuerKey('k1');
  await using parts = await trusting(key);
  for (const bad of [
    { aud: 'others' },
    { iss: 'https://other.example' },
    { exp: nowSeconds() - 600 },
    { exp: undefined },
    { sub: undefined },
    { sub: '' },
    { nbf: nowSeconds() + 600 },
  ])
    await expectRefused(parts.hub, await key.sign({ ...claims, ...bad } as typeof claims));
});

test('AUTH-12: the algorithms are pinned: one that is not listed is refused, though its key is published', async () => {
  const pinned = await issuerKey('k1', 'ES256');
  const other = await issuerKey('k2', 'ES384');
  await using parts = await trusting(pinned, other);
  await expectAccepted(parts.hub, await pinned.sign(claims));
  await expectRefused(parts.hub, await other.sign(claims));
  await expectRefused(
    parts.hub,
    handMade({ alg: 'none', kid: 'k1' }, { sub: 'u1', ...claims, exp: 4_000_000_000 }),
  );
});

test('AUTH-12: a stranger’s key under the issuer’s key id is refused', async () => {
  const key = await issuerKey('k1');
  const stranger = await issuerKey('k1');
  await using parts = await trusting(key);
  await expectRefused(parts.hub, await stranger.sign(claims));
  // the header brings its own key, and an address of its own: neither is looked at
  const token = await new SignJWT({ sub: 'u1', ...claims, exp: nowSeconds() + 60 })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', jwk: stranger.jwk, jku: `${parts.issuer.url}/others` })
    .sign((await generateKeyPair('ES256')).privateKey);
  await expectRefused(parts.hub, token);
  expect(parts.issuer.requests).toBe(1);
});

test('K132: a token signed by HMAC with the public key of an RS256 issuer is refused', async () => {
  const key = await issuerKey('k1', 'RS256');
  await using parts = await trusting(key);
  await expectAccepted(parts.hub, await key.sign(claims));
  const pem = await exportSPKI(key.publicKey);
  const body = { sub: 'admin', ...claims, exp: nowSeconds() + 3_600 };
  const signedWith = (secret: string, alg: string): string => {
    const unsigned = handMade({ alg, kid: 'k1' }, body).slice(0, -1);
    return `${unsigned}.${createHmac(`sha${alg.slice(2)}`, secret)
      .update(unsigned)
      .digest('base64url')}`;
  };
  for (const secret of [pem, pem.trim(), `${pem}\n`, JSON.stringify(key.jwk), key.jwk.n ?? ''])
    await expectRefused(parts.hub, signedWith(secret, 'HS256'));
  for (const alg of ['HS384', 'HS512']) await expectRefused(parts.hub, signedWith(pem, alg));
});

test('K132: without a secret of its own a hub refuses every HS256 token', async () => {
  const key = await issuerKey('k1');
  await using issuer = await startIssuer(key.jwk);
  await using hub = await startHub({ limits, auth: { secret: undefined, jwksUrl: issuer.url } });
  await expectRefused(hub, await signed({}, await exportSPKI(key.publicKey)));
  await expectRefused(hub, await signed());
  await expectAccepted(hub, await key.sign());
});

test('K134: a new key is fetched once for many logins; the old one works while it is published', async () => {
  const before = await issuerKey('k1');
  const after = await issuerKey('k2');
  await using parts = await trusting(before);
  await expectAccepted(parts.hub, await before.sign(claims));
  expect(parts.issuer.requests).toBe(1);
  parts.issuer.keys = [before.jwk, after.jwk];
  const token = await after.sign(claims);
  const sessions = await Promise.all(Array.from({ length: 10 }, () => parts.hub.open()));
  for (const session of sessions) expect(await logIn(session, { token })).toMatchObject({ userId: 'u1' });
  expect(parts.issuer.requests).toBe(2);
  await expectAccepted(parts.hub, await before.sign(claims));
});

test('K134: while the fetch fails the refusal says so by both ways in, the old key works, and later the new one', async () => {
  const before = await issuerKey('k1');
  const after = await issuerKey('k2');
  await using parts = await trusting(before);
  const { hub, issuer } = parts;
  await expectAccepted(hub, await before.sign(claims));
  issuer.keys = [before.jwk, after.jwk];
  issuer.answer = (response) => response.writeHead(503).end();
  const token = await after.sign(claims);
  await using session = await hub.open();
  expect(await logIn(session, { token })).toEqual({ ...unavailable, nonce: 't1' });
  expect(await refusedUpgrade(hub.socketUrl, bearer(token))).toMatchObject({
    status: 503,
    body: { error: 'the login cannot be checked at the moment', code: 'internal-error' },
  });
  await expectAccepted(hub, await before.sign(claims));

  issuer.answer = undefined;
  expect(await logIn(session, { token })).toMatchObject({ userId: 'u1' });
  expect(hub.logs).toContainEqual(having({ level: 40, msg: 'keys of the token issuer cannot be fetched' }));
});

test('K134: when the very first fetch fails a later login tries again', async () => {
  const key = await issuerKey('k1');
  await using parts = await trusting(key);
  parts.issuer.answer = (response) => response.destroy();
  await using session = await parts.hub.open();
  const token = await key.sign(claims);
  expect(await logIn(session, { token })).toMatchObject(unavailable);
  parts.issuer.answer = undefined;
  expect(await logIn(session, { token })).toMatchObject({ userId: 'u1' });
});

test('forged key ids beyond the budget of fetches are rate-limited: with the time to wait, 429 at the upgrade', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const key = await issuerKey('k1');
    const forger = await issuerKey('forged');
    await using parts = await trusting(key);
    await expectAccepted(parts.hub, await key.sign(claims));
    await using session = await parts.hub.open();
    const forged = async (n: number) =>
      logIn(session, { token: await forger.sign(claims, { kid: `f${n}` }) });
    for (let n = 0; n < 4; n += 1) expect(await forged(n)).toMatchObject(invalid);
    expect(await forged(4)).toMatchObject({ code: 'rate-limited', retryAfterMs: 10_000 });
    expect(await refusedUpgrade(parts.hub.socketUrl, bearer(await forger.sign(claims)))).toMatchObject({
      status: 429,
      headers: { 'retry-after': '10' },
    });
    expect(parts.issuer.requests).toBe(5);
    await expectAccepted(parts.hub, await key.sign(claims));
  } finally {
    vi.useRealTimers();
  }
});

test('what the issuer answers is in no error and no log line', async () => {
  const key = await issuerKey('k1');
  await using parts = await trusting(key);
  parts.issuer.answer = (response) => response.writeHead(500).end('the key is swordfish');
  await using session = await parts.hub.open();
  const reply = await logIn(session, { token: await key.sign(claims) });
  expect(reply).toMatchObject(unavailable);
  expectNoSecret(JSON.stringify(parts.hub.logs));
});
