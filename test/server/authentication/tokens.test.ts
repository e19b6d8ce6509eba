import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import {
  exportSPKI,
  SignJWT,
  UnsecuredJWT,
  base64url,
  decodeJwt,
  decodeProtectedHeader,
  jwtVerify,
} from 'jose';
import { afterEach, expect, test, vi } from 'vitest';
import { Tokens, type TokensOptions } from '../../../server/src/authentication/tokens.js';
import {
  KeptLog,
  SECRET,
  hubToken,
  invalid,
  issuerKey,
  nowSeconds,
  refusalOf,
  startIssuer,
} from './fixtures.js';

const base: TokensOptions = { algorithms: ['RS256', 'ES256'], tokenTtlSeconds: 3_600, logger: new KeptLog() };
const hubTokens = (options: Partial<TokensOptions> = {}): Tokens =>
  new Tokens({ ...base, secret: SECRET, ...options });

/** A token with a header and claims of any text, signed with the right secret where it is signed. */
function rawToken(claims: string, header = '{"alg":"HS256"}'): string {
  const input = `${base64url.encode(header)}.${base64url.encode(claims)}`;
  return `${input}.${createHmac('sha256', SECRET).update(input).digest('base64url')}`;
}

afterEach(() => {
  vi.useRealTimers();
});

test('a token of the hub says who the user is and when the session ends', async () => {
  const exp = nowSeconds() + 60;
  expect(await hubTokens().verify(await hubToken({ sub: 'ann', exp }))).toEqual({
    userId: 'ann',
    expiresAt: exp * 1_000,
  });
});

test.each(['none', 'None', 'nOnE', 'NONE'])('K131: alg %s is refused like any bad token', async (alg) => {
  const claims = base64url.encode(JSON.stringify({ sub: 'admin', exp: nowSeconds() + 3_600 }));
  const header = base64url.encode(JSON.stringify({ alg }));
  expect(await refusalOf(hubTokens().verify(`${header}.${claims}.`))).toMatchObject(invalid);
  const unsecured = new UnsecuredJWT({ sub: 'admin' }).setExpirationTime('1h').encode();
  expect(await refusalOf(hubTokens().verify(unsecured))).toMatchObject(invalid);
});

test('K132: the public key of the issuer is no HS256 secret', async () => {
  const key = await issuerKey('k1', 'RS256');
  await using issuer = await startIssuer(key.jwk);
  const pem = await exportSPKI(key.publicKey);
  const forged = [
    await hubToken({ sub: 'admin' }, pem),
    await hubToken({ sub: 'admin' }, JSON.stringify(key.jwk)),
    await new SignJWT({ sub: 'admin', exp: nowSeconds() + 60 })
      .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
      .sign(new TextEncoder().encode(pem)),
  ];
  using issuerOnly = new Tokens({ ...base, jwksUrl: issuer.url });
  using both = hubTokens({ jwksUrl: issuer.url });
  const refusals = await Promise.all(
    forged.flatMap((token) => [refusalOf(issuerOnly.verify(token)), refusalOf(both.verify(token))]),
  );
  for (const refusal of refusals) expect(refusal).toMatchObject(invalid);
  expect(issuer.requests).toBe(0);
  expect(await issuerOnly.verify(await key.sign())).toMatchObject({ userId: 'u1' });
});

test('with a secret and an issuer both kinds are accepted, each with its own algorithms', async () => {
  const key = await issuerKey('k1');
  await using issuer = await startIssuer(key.jwk);
  using tokens = hubTokens({ jwksUrl: issuer.url });
  expect(await tokens.verify(await hubToken({ sub: 'own' }))).toMatchObject({ userId: 'own' });
  expect(await tokens.verify(await key.sign({ sub: 'theirs' }))).toMatchObject({ userId: 'theirs' });

  const secret = new TextEncoder().encode(SECRET.repeat(2));
  const hs512 = await new SignJWT({ sub: 'u1' })
    .setExpirationTime('1h')
    .setProtectedHeader({ alg: 'HS512' })
    .sign(secret);
  expect(await refusalOf(hubTokens({ secret: SECRET.repeat(2) }).verify(hs512))).toMatchObject(invalid);
});

test('an algorithm that is not pinned is refused before its key is looked for', async () => {
  const key = await issuerKey('k1', 'ES384');
  await using issuer = await startIssuer(key.jwk);
  using tokens = new Tokens({ ...base, jwksUrl: issuer.url });
  expect(await refusalOf(tokens.verify(await key.sign()))).toMatchObject(invalid);
  expect(issuer.requests).toBe(0);
});

test('a key in the header of a token is not used', async () => {
  const known = await issuerKey('k1');
  const forger = await issuerKey('k1');
  await using issuer = await startIssuer(known.jwk);
  using tokens = new Tokens({ ...base, jwksUrl: issuer.url });
  const header = { kid: 'k1', jwk: forger.jwk, jku: 'http://127.0.0.1:1/keys' };
  expect(await refusalOf(tokens.verify(await forger.sign({}, header)))).toMatchObject(invalid);
});

test('K136: nbf, exp and iat are taken with a tolerance of 5 s; the session outlives the token by no more', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 });
  const now = nowSeconds();
  const tokens = hubTokens();
  const inAnHour = { userId: 'u1', expiresAt: (now + 3_600) * 1_000 };
  expect(await tokens.verify(await hubToken({ nbf: now + 3 }))).toEqual(inAnHour);
  expect(await tokens.verify(await hubToken({ iat: now + 3 }))).toEqual(inAnHour);
  expect(await tokens.verify(await hubToken({ exp: now - 3 }))).toEqual({
    userId: 'u1',
    expiresAt: (now + 2) * 1_000,
  });
  const refused = [{ nbf: now + 600 }, { nbf: now + 6 }, { exp: now - 600 }, { exp: now - 5 }];
  const refusals = await Promise.all(
    refused.map(async (claims) => refusalOf(tokens.verify(await hubToken(claims)))),
  );
  for (const refusal of refusals) expect(refusal).toMatchObject(invalid);
});

test('claims are taken exactly when the library takes them', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 });
  const near = fc.integer({ min: -8, max: 8 }).map((seconds) => nowSeconds() + seconds);
  const odd = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom('', 'Zoë', 1e300, -1));
  const mostly = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 8, arbitrary: usual }, { weight: 1, arbitrary: odd });
  const claims = fc.record(
    {
      sub: mostly(fc.string({ minLength: 1, maxLength: 20 })),
      exp: mostly(near),
      nbf: mostly(near),
      iat: mostly(near),
      iss: mostly(fc.constant('https://issuer')),
      aud: mostly(fc.oneof(fc.constant('hub'), fc.subarray(['hub', 'other']))),
    },
    { requiredKeys: ['sub', 'exp', 'iss', 'aud'] },
  );
  const expected = { issuer: 'https://issuer', audience: 'hub' };
  const tokens = hubTokens(expected);
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(claims, async (fields) => {
      const token = rawToken(JSON.stringify(fields));
      const options = {
        ...expected,
        algorithms: ['HS256'],
        requiredClaims: ['sub', 'exp'],
        clockTolerance: 5,
      };
      const isTaken = await jwtVerify(token, Buffer.from(SECRET), options).then(
        ({ payload: { sub } }) => typeof sub === 'string' && sub.length > 0,
        () => false,
      );
      const identity = await Promise.resolve(tokens.verify(token)).catch(() => undefined);
      if (identity !== undefined) accepted += 1;
      expect(identity?.userId).toBe(isTaken ? fields.sub : undefined);
    }),
    { numRuns: 1_000 },
  );
  expect(accepted).toBeGreaterThan(50);
});

test.each([
  ['no exp', '{"sub":"u1"}'],
  ['exp as text', '{"sub":"u1","exp":"4000000000"}'],
  ['exp null', '{"sub":"u1","exp":null}'],
  ['no sub', '{"exp":4000000000}'],
  ['sub empty', '{"sub":"","exp":4000000000}'],
  ['sub a number', '{"sub":7,"exp":4000000000}'],
  ['sub an object', '{"sub":{"a":1},"exp":4000000000}'],
  ['sub null', '{"sub":null,"exp":4000000000}'],
  ['sub too long', `{"sub":"${'u'.repeat(257)}","exp":4000000000}`],
  ['sub in the prototype', '{"__proto__":{"sub":"u1"},"exp":4000000000}'],
  ['claims that are a list', '["u1"]'],
  ['claims that are no JSON', 'sub=u1'],
])('K138: %s is refused', async (_what, claims) => {
  expect(await refusalOf(hubTokens().verify(rawToken(claims)))).toMatchObject(invalid);
});

test.each([
  ['nothing', ''],
  ['no token', 'hello'],
  ['dots', '..'],
  ['four dots', 'a.b.c.d.e'],
  ['a header that is no JSON', 'aGVsbG8.aGVsbG8.aGVsbG8'],
  ['16 385 characters', 'a'.repeat(16_385)],
])('%s instead of a token is refused like any bad token', async (_what, token) => {
  expect(await refusalOf(hubTokens().verify(token))).toMatchObject(invalid);
});

test('a signature of another secret, a changed claim and an unknown critical header are refused', async () => {
  const token = await hubToken({ sub: 'ann' });
  const [header, , signature] = token.split('.');
  const changed = `${header}.${base64url.encode(JSON.stringify({ sub: 'admin', exp: 4_000_000_000 }))}.${signature}`;
  const critical = rawToken('{"sub":"u1","exp":4000000000}', '{"alg":"HS256","crit":["x"],"x":1}');
  const foreign = await hubToken({}, 'another secret, also longer than 32 bytes');
  const refusals = await Promise.all(
    [changed, critical, foreign].map((bad) => refusalOf(hubTokens().verify(bad))),
  );
  for (const refusal of refusals) expect(refusal).toMatchObject(invalid);
});

test('iss and aud must be those of the configuration', async () => {
  const tokens = hubTokens({ issuer: 'https://issuer.example', audience: 'hub' });
  const right = { iss: 'https://issuer.example', aud: ['other', 'hub'] };
  expect(await tokens.verify(await hubToken(right))).toMatchObject({ userId: 'u1' });
  const wrong = [
    {},
    { ...right, iss: 'https://evil.example' },
    { ...right, aud: 'other' },
    { iss: right.iss },
  ];
  const refusals = await Promise.all(
    wrong.map(async (claims) => refusalOf(tokens.verify(await hubToken(claims)))),
  );
  for (const refusal of refusals) expect(refusal).toMatchObject(invalid);
});

test.each(['1e300', '1e400', '9007199254740993', '99999999999999'])(
  'exp %s ends the session at a real date',
  async (exp) => {
    const { expiresAt } = await hubTokens().verify(rawToken(`{"sub":"u1","exp":${exp}}`));
    expect(expiresAt).toBe(8_640_000_000_000_000);
  },
);

test('a fractional exp ends the session at a whole millisecond', async () => {
  const { expiresAt } = await hubTokens().verify(rawToken('{"sub":"u1","exp":4000000000.00049}'));
  expect(expiresAt).toBe(4_000_000_000_000);
});

test('without a secret and an issuer no token is accepted', async () => {
  expect(await refusalOf(new Tokens(base).verify(await hubToken({})))).toMatchObject(invalid);
});

test('a secret of less than 32 bytes is named, not shown', () => {
  expect(() => hubTokens({ secret: 'hunter2' })).toThrow(
    /^auth\.secret: expected at least 32 bytes, received 7$/,
  );
  expect(() => hubTokens({ secret: '\u20ac'.repeat(10) })).toThrow(RangeError);
  expect(() => hubTokens({ secret: '\u20ac'.repeat(11) })).not.toThrow();
});

test('an issued token is HS256 with the configured claims, and is accepted until it ends', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_400 });
  const tokens = hubTokens({ issuer: 'hub', audience: 'sessions' });
  const { token, expiresAt } = await tokens.issue('ann', 60_000);
  expect(expiresAt).toBe(1_800_000_061_000);
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT' });
  expect(decodeJwt(token)).toEqual({
    iss: 'hub',
    aud: 'sessions',
    sub: 'ann',
    iat: 1_800_000_000,
    exp: 1_800_000_061,
  });
  expect(await tokens.verify(token)).toEqual({ userId: 'ann', expiresAt });
  vi.setSystemTime(expiresAt + 5_000);
  expect(await refusalOf(tokens.verify(token))).toMatchObject(invalid);
});

test('a token lives as long as the configuration says unless another time is asked for', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 });
  expect((await hubTokens({ tokenTtlSeconds: 7 }).issue('ann')).expiresAt).toBe(1_800_000_007_000);
});

test('tokens are not issued without a secret, to nobody, or for no time', async () => {
  await using issuer = await startIssuer();
  using tokens = new Tokens({ ...base, jwksUrl: issuer.url });
  expect(tokens.canIssue).toBe(false);
  expect(await refusalOf(tokens.issue('ann'))).toMatchObject({ code: 'internal-error' });
  await expect(hubTokens().issue('')).rejects.toThrow('expected a user id');
  await expect(hubTokens().issue('ann', 0)).rejects.toThrow('ttlMs');
  await expect(hubTokens().issue('ann', Number.NaN)).rejects.toThrow('ttlMs');
});

test('an issuer without an audience is warned of', async () => {
  const logger = new KeptLog();
  using open = new Tokens({ ...base, jwksUrl: 'http://127.0.0.1:1/', logger });
  expect(open.canIssue).toBe(false);
  expect(logger.lines).toMatchObject([{ level: 'warn' }]);
  using pinned = new Tokens({ ...base, jwksUrl: 'http://127.0.0.1:1/', audience: 'hub', logger });
  expect(pinned.canIssue).toBe(false);
  expect(logger.lines).toHaveLength(1);
});

// the hub checks the signatures of its own tokens itself: what the library refuses it must refuse

test('a token of the hub that was changed in any way is refused as the library refuses it', async () => {
  using tokens = hubTokens();
  const token = await hubToken({ sub: 'u1' });
  const piece = fc.oneof(
    fc.constantFrom('.', '=', '-', '_', ' ', 'A', 'e30', 'eyJhbGciOiJub25lIn0'),
    fc.string({ maxLength: 3 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.nat(token.length), fc.nat(3), piece, async (at, cut, added) => {
      const changed = token.slice(0, at) + added + token.slice(at + cut);
      if (changed === token) return;
      expect([changed, await refusalOf(tokens.verify(changed))]).toMatchObject([changed, invalid]);
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  ['without a signature', (head: string, claims: string) => `${head}.${claims}.`],
  ['with no part for it', (head: string, claims: string) => `${head}.${claims}`],
  [
    'with a part too many',
    (head: string, claims: string, signature: string) => `${head}.${claims}.${claims}.${signature}`,
  ],
  ['padded', (head: string, claims: string, signature: string) => `${head}.${claims}.${signature}=`],
  [
    'in base64',
    (head: string, claims: string, signature: string) =>
      `${head}.${claims}.${signature.replaceAll('-', '+').replaceAll('_', '/')}+`,
  ],
  [
    'with other bits that base64 drops',
    (head: string, claims: string, signature: string) =>
      `${head}.${claims}.${signature.slice(0, -1)}${other(signature.slice(-1))}`,
  ],
  [
    'that says it is unsigned',
    (_head: string, claims: string, signature: string) =>
      `${base64url.encode('{"alg":"none"}')}.${claims}.${signature}`,
  ],
])('a token of the hub %s is refused', async (_what, change) => {
  using tokens = hubTokens();
  const [head = '', claims = '', signature = ''] = (await hubToken({ sub: 'u1' })).split('.');
  expect(await refusalOf(tokens.verify(change(head, claims, signature)))).toMatchObject(invalid);
});

test('an extension that must be understood is refused, however well it is signed', async () => {
  using tokens = hubTokens();
  for (const header of [
    '{"alg":"HS256","crit":["x"],"x":1}',
    '{"alg":"HS256","crit":[]}',
    '{"alg":"HS256","b64":false,"crit":["b64"]}',
  ]) {
    const token = rawToken('{"sub":"u1","exp":4000000000}', header);
    expect([header, await refusalOf(tokens.verify(token))]).toMatchObject([header, invalid]);
  }
});

/** Another character that stands for the same bits where the last two are not used. */
function other(character: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet[alphabet.indexOf(character) ^ 1] ?? '';
}
