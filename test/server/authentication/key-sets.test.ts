import type { ServerResponse } from 'node:http';
import { decodeProtectedHeader, jwtVerify, type JWTPayload } from 'jose';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KeySet } from '../../../server/src/authentication/key-sets.js';
import { Tokens } from '../../../server/src/authentication/tokens.js';
import { KeptLog, invalid, issuerKey, refusalOf, startIssuer } from './fixtures.js';

const MINUTE = 60_000;

const unavailable = {
  code: 'internal-error',
  message: 'the keys of the token issuer cannot be fetched',
};

const tokensOf = (url: string, logger = new KeptLog()): Tokens =>
  new Tokens({ jwksUrl: url, audience: 'hub', algorithms: ['ES256', 'EdDSA'], tokenTtlSeconds: 60, logger });

const claims: JWTPayload = { aud: 'hub', exp: 4_000_000_000 };

async function verifyWith(keySet: KeySet, token: string): Promise<JWTPayload> {
  const { payload } = await jwtVerify(token, (header, input) => keySet.find(header, input));
  return payload;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] }); // the network and its deadlines stay real
});
afterEach(() => {
  vi.useRealTimers();
});

test('keys are fetched with the first token, and many tokens at once cost one fetch', async () => {
  const key = await issuerKey('k1');
  await using issuer = await startIssuer(key.jwk);
  using tokens = tokensOf(issuer.url);
  expect(issuer.requests).toBe(0);
  const all = await Promise.all(
    Array.from({ length: 50 }, async () => tokens.verify(await key.sign(claims))),
  );
  expect(all).toHaveLength(50);
  expect(issuer.requests).toBe(1);
});

test('K134: a new key is accepted at once after one more fetch, the old one while it is published', async () => {
  const before = await issuerKey('k1');
  const after = await issuerKey('k2');
  await using issuer = await startIssuer(before.jwk);
  using tokens = tokensOf(issuer.url);
  await tokens.verify(await before.sign(claims));

  issuer.keys = [before.jwk, after.jwk];
  const newTokens = await Promise.all(Array.from({ length: 10 }, () => after.sign(claims)));
  await Promise.all(newTokens.map(async (token) => tokens.verify(token)));
  expect(issuer.requests).toBe(2);
  await tokens.verify(await before.sign(claims));

  issuer.keys = [after.jwk];
  vi.setSystemTime(Date.now() + 10 * MINUTE);
  await tokens.verify(await after.sign(claims));
  expect(issuer.requests).toBe(3);
  expect(await refusalOf(tokens.verify(await before.sign(claims)))).toMatchObject(invalid);
});

test('K134: a failed fetch is a refusal that says so, and the next attempt fetches again', async () => {
  const before = await issuerKey('k1');
  const after = await issuerKey('k2');
  await using issuer = await startIssuer(before.jwk);
  const logger = new KeptLog();
  using tokens = tokensOf(issuer.url, logger);
  await tokens.verify(await before.sign(claims));

  issuer.keys = [before.jwk, after.jwk];
  issuer.answer = (response) => response.writeHead(503).end();
  expect(await refusalOf(tokens.verify(await after.sign(claims)))).toMatchObject(unavailable);
  await tokens.verify(await before.sign(claims));
  expect(logger.lines).toMatchObject([{ level: 'warn', text: 'keys of the token issuer cannot be fetched' }]);

  issuer.answer = undefined;
  expect(await tokens.verify(await after.sign(claims))).toMatchObject({ userId: 'u1' });
  expect(issuer.requests).toBe(3);
});

test('when the first fetch fails, the next attempt fetches again', async () => {
  const key = await issuerKey('k1');
  await using issuer = await startIssuer(key.jwk);
  using tokens = tokensOf(issuer.url);
  issuer.answer = (response) => response.destroy();
  expect(await refusalOf(tokens.verify(await key.sign(claims)))).toMatchObject(unavailable);
  issuer.answer = undefined;
  expect(await tokens.verify(await key.sign(claims))).toMatchObject({ userId: 'u1' });
});

test('a key published while an older fetch is under way is found by another fetch', async () => {
  const before = await issuerKey('k1');
  const after = await issuerKey('k2');
  await using issuer = await startIssuer(before.jwk);
  using keySet = new KeySet({ url: issuer.url, logger: new KeptLog() });

  const answered = new Promise<() => void>((resolve) => {
    issuer.answer = (response) => resolve(() => response.end(JSON.stringify({ keys: [before.jwk] })));
  });
  const first = verifyWith(keySet, await before.sign(claims));
  const release = await answered;
  issuer.keys = [before.jwk, after.jwk];
  issuer.answer = undefined;
  const second = verifyWith(keySet, await after.sign(claims));
  release();

  expect(await first).toMatchObject({ sub: 'u1' });
  expect(await second).toMatchObject({ sub: 'u1' });
  expect(issuer.requests).toBe(2);
});

test('forged key ids fetch five times, then once in ten seconds; then a new key is still found', async () => {
  const known = await issuerKey('k1');
  const forger = await issuerKey('forged');
  const rotated = await issuerKey('k2');
  await using issuer = await startIssuer(known.jwk);
  using tokens = tokensOf(issuer.url);
  await tokens.verify(await known.sign(claims)); // the first of the five

  const codes: string[] = [];
  for (let n = 0; n < 100; n += 1) {
    const token = await forger.sign(claims, { kid: `forged-${n}` });
    codes.push((await refusalOf(tokens.verify(token))).code);
  }
  expect(issuer.requests).toBe(5);
  expect(codes.slice(0, 4)).toEqual(Array.from({ length: 4 }, () => 'invalid-credentials'));
  expect(new Set(codes.slice(4))).toEqual(new Set(['rate-limited']));
  expect(await tokens.verify(await known.sign(claims))).toMatchObject({ userId: 'u1' });

  issuer.keys = [known.jwk, rotated.jwk];
  const { retryAfterMs = 0 } = await refusalOf(tokens.verify(await rotated.sign(claims)));
  expect(retryAfterMs).toBeGreaterThan(0);
  expect(retryAfterMs).toBeLessThanOrEqual(10_000);
  vi.setSystemTime(Date.now() + retryAfterMs);
  expect(await tokens.verify(await rotated.sign(claims))).toMatchObject({ userId: 'u1' });
  expect(issuer.requests).toBe(6);
});

test('known keys outlast an issuer that is away by an hour, not by more', async () => {
  const key = await issuerKey('k1');
  await using issuer = await startIssuer(key.jwk);
  using tokens = tokensOf(issuer.url);
  await tokens.verify(await key.sign(claims));
  issuer.answer = (response) => response.destroy();

  vi.setSystemTime(Date.now() + 59 * MINUTE);
  expect(await tokens.verify(await key.sign(claims))).toMatchObject({ userId: 'u1' });
  vi.setSystemTime(Date.now() + MINUTE);
  expect(await refusalOf(tokens.verify(await key.sign(claims)))).toMatchObject(unavailable);
});

test.each<[string, (response: ServerResponse) => void]>([
  ['is not JSON', (response) => response.end('<html>')],
  ['is no key set', (response) => response.end('{"keys":{}}')],
  ['leads elsewhere', (response) => response.writeHead(302, { location: '/keys' }).end()],
  ['is longer than 256 KiB', (response) => response.end(`{"keys":[],"more":"${'x'.repeat(256 * 1024)}"}`)],
])('an answer that %s is no key set', async (_what, answer) => {
  const key = await issuerKey('k1');
  await using issuer = await startIssuer(key.jwk);
  issuer.answer = answer;
  using tokens = tokensOf(issuer.url);
  expect(await refusalOf(tokens.verify(await key.sign(claims)))).toMatchObject(unavailable);
  expect(issuer.requests).toBe(1);
});

test('an answer that never ends, and one that never comes, end at the deadline', async () => {
  const key = await issuerKey('k1');
  await using issuer = await startIssuer(key.jwk);
  using keySet = new KeySet({ url: issuer.url, logger: new KeptLog(), deadlineMs: 50 });
  for (const answer of [undefined, '{"keys":[']) {
    issuer.answer = (response) => void (answer === undefined || response.write(answer));
    expect(await refusalOf(verifyWith(keySet, await key.sign(claims)))).toMatchObject(unavailable);
  }
});

test('closing ends a fetch under way', async () => {
  const key = await issuerKey('k1');
  await using issuer = await startIssuer(key.jwk);
  const tokens = tokensOf(issuer.url);
  const asked = new Promise<void>((resolve) => {
    issuer.answer = () => resolve();
  });
  const refused = refusalOf(tokens.verify(await key.sign(claims)));
  await asked;
  tokens[Symbol.dispose]();
  expect(await refused).toMatchObject(unavailable);
});

test('a token without a key id is accepted while one published key fits it', async () => {
  const key = await issuerKey('k1');
  const other = await issuerKey('k2', 'EdDSA');
  await using issuer = await startIssuer(key.jwk, other.jwk);
  using tokens = tokensOf(issuer.url);
  const token = await key.sign(claims, {});
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256' });
  expect(await tokens.verify(token)).toMatchObject({ userId: 'u1' });
  expect(await tokens.verify(await other.sign(claims))).toMatchObject({ userId: 'u1' });
});

test('a symmetric key in the key set accepts nothing', async () => {
  const key = await issuerKey('k1');
  await using issuer = await startIssuer({ kty: 'oct', k: 'AAAA', kid: 'k1', alg: 'ES256' });
  using tokens = tokensOf(issuer.url);
  expect(await refusalOf(tokens.verify(await key.sign(claims)))).toMatchObject(invalid);
});
