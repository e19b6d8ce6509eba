import { request, type IncomingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { TestSession } from '../../support/session.js';
import type { TestHub } from '../../support/hub.js';
import {
  MARK,
  aNumber,
  aString,
  bearer,
  containing,
  expectNoSecret,
  invalid,
  logIn,
  passwordOf,
  requestToken,
  startHub,
  userOf,
} from './fixtures.js';

const ann = { username: 'ann', password: passwordOf('ann') };
const hubOfAnn = async (auth: object = {}): Promise<TestHub> =>
  startHub({ auth: { users: [await userOf('ann')], ...auth } });

/** A request with nothing added, and its whole answer. */
async function ask(hub: TestHub, method: string, headers: Record<string, string>, body = '') {
  return new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; text: string }>(
    (resolve, reject) => {
      const asked = request(`${hub.url}/v1/auth/token`, { method, headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
      });
      asked.on('error', reject);
      asked.end(body);
    },
  );
}

test('HTTP-02: a username and a password get a token that logs in, by both ways', async () => {
  await using hub = await hubOfAnn({ tokenTtlSeconds: 120 });
  const before = Date.now();
  const { status, headers, body } = await requestToken(hub, ann);
  expect(status).toBe(200);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(body).toEqual({ token: aString, expiresAt: aNumber, tokenType: 'Bearer' });
  const expiresAt = Number(body['expiresAt']);
  expect(expiresAt).toBeGreaterThanOrEqual(before + 120_000);
  expect(expiresAt).toBeLessThanOrEqual(Date.now() + 121_000);
  const token = String(body['token']);
  await using session = await hub.open();
  expect(await logIn(session, { token })).toMatchObject({ userId: 'ann', expiresAt });
  await using byHeader = await TestSession.open(hub.socketUrl, [], { headers: bearer(token) });
  await byHeader.event('session-opened');
});

test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON', 'application/json;x'])(
  'HTTP-02: the content type %s is taken',
  async (type) => {
    await using hub = await hubOfAnn();
    expect(await requestToken(hub, ann, { 'content-type': type })).toMatchObject({ status: 200 });
  },
);

test('HTTP-03: wrong credentials are 401 in one text', async () => {
  await using hub = await hubOfAnn();
  for (const wrong of [
    { ...ann, password: MARK },
    { ...ann, username: 'nobody' },
    { ...ann, username: 'ANN' },
  ]) {
    const { status, body } = await requestToken(hub, wrong);
    expect({ status, body }).toEqual({ status: 401, body: invalid });
  }
});

test.each([
  ['nothing', '', 'malformed-message', 'the body is not well-formed JSON'],
  ['half of it', '{"username":"ann",', 'malformed-message', 'the body is not well-formed JSON'],
  ['a form', `username=ann&password=${MARK}`, 'malformed-message', 'the body is not well-formed JSON'],
  ['a list', '[]', 'invalid-body', 'expected object, received array'],
  ['null', 'null', 'invalid-body', 'expected object, received null'],
  ['no password', '{"username":"ann"}', 'invalid-body', 'password: expected string, received undefined'],
  [
    'wrong kinds',
    `{"username":7,"password":["${MARK}"]}`,
    'invalid-body',
    'username: expected string, received number',
  ],
  ['an empty name', '{"username":"","password":"x"}', 'invalid-body', 'username: Too small'],
  ['a long name', JSON.stringify({ ...ann, username: 'x'.repeat(257) }), 'invalid-body', 'username: Too big'],
  [
    'a long password',
    JSON.stringify({ ...ann, password: MARK.padEnd(1_025) }),
    'invalid-body',
    'password: Too big',
  ],
  [
    'names by inheritance',
    '{"__proto__":{"username":"ann","password":"x"}}',
    'invalid-body',
    'username: expected string',
  ],
])('HTTP-03: a body that is %s is 400', async (_what, text, code, error) => {
  await using hub = await hubOfAnn();
  const { status, body } = await requestToken(hub, text);
  expect({ status, body }).toEqual({ status: 400, body: { code, error: containing(error) } });
  expectNoSecret(JSON.stringify(body));
});

test.each([
  undefined,
  'text/plain',
  'application/x-www-form-urlencoded',
  'text/plain; application/json',
  'application/jsonp',
])('HTTP-03: the content type %s is 415', async (type) => {
  await using hub = await hubOfAnn();
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
  const { status, text } = await ask(hub, 'POST', headers, JSON.stringify(ann));
  expect(status).toBe(415);
  expect(JSON.parse(text)).toEqual({
    error: 'expected Content-Type: application/json',
    code: 'invalid-body',
  });
});

test('HTTP-03: the content type application/json-patch+json is 415', async () => {
  await using hub = await hubOfAnn();
  const { status } = await requestToken(hub, ann, { 'content-type': 'application/json-patch+json' });
  expect(status).toBe(415);
});

test('HTTP-02: a body whose length is not told (chunked) is taken like any other', async () => {
  await using hub = await hubOfAnn();
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  const { status } = await ask(hub, 'POST', headers, JSON.stringify(ann));
  expect(status).toBe(200);
});

test('HTTP-03: more than 8 KiB is 413, whether the length is told or not', async () => {
  await using hub = await hubOfAnn();
  const json = JSON.stringify(ann);
  const room = 8 * 1024 - Buffer.byteLength(json);
  expect(await requestToken(hub, json + ' '.repeat(room))).toMatchObject({ status: 200 });
  const tooLarge = { error: 'at most 8192 bytes are taken', code: 'message-too-large' };
  expect(await requestToken(hub, json + ' '.repeat(room + 1))).toMatchObject({ status: 413, body: tooLarge });
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  const { status, text } = await ask(hub, 'POST', headers, ' '.repeat(9 * 1024));
  expect({ status, body: JSON.parse(text) as unknown }).toEqual({ status: 413, body: tooLarge });
  expect(await requestToken(hub, ann)).toMatchObject({ status: 200 });
});

test.each(['GET', 'PUT', 'DELETE', 'PATCH'])('HTTP-03: %s is 405 and names POST', async (method) => {
  await using hub = await hubOfAnn();
  const { status, headers, text } = await ask(hub, method, { 'content-type': 'application/json' });
  expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'POST' });
  expect(JSON.parse(text)).toEqual({ error: 'use POST', code: 'unknown-action' });
});

test('HTTP-03: too many failures are 429 with the time to wait, for the right password too', async () => {
  await using hub = await startHub({
    limits: { maxAttemptsPerUser: 3 },
    auth: { users: [await userOf('ann')] },
  });
  for (let n = 0; n < 3; n += 1)
    expect(await requestToken(hub, { ...ann, password: MARK })).toMatchObject({ status: 401 });
  const { status, headers, body } = await requestToken(hub, ann);
  expect({ status, body }).toEqual({
    status: 429,
    body: { error: 'too many attempts to log in', code: 'rate-limited' },
  });
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
});

test('HTTP-02: pages of allowed origins may read the answer, and ask before; others may not', async () => {
  const allowedOrigins = ['https://app.example'];
  await using hub = await hubOfAnn({ allowedOrigins });
  const preflight = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type',
  };
  const allowed = await ask(hub, 'OPTIONS', { ...preflight, origin: 'https://app.example' });
  expect(allowed).toMatchObject({
    status: 204,
    headers: { 'access-control-allow-origin': 'https://app.example' },
  });
  expect(allowed.headers['access-control-allow-methods']).toContain('POST');
  expect(allowed.headers['access-control-allow-headers']).toContain('content-type');
  const good = await requestToken(hub, ann, { origin: 'https://app.example' });
  expect(good.headers.get('access-control-allow-origin')).toBe('https://app.example');
  const refused = await requestToken(hub, { ...ann, password: MARK }, { origin: 'https://app.example' });
  expect(refused.headers.get('access-control-allow-origin')).toBe('https://app.example'); // it may read why

  for (const origin of [
    'https://app.example.evil.example',
    'http://app.example',
    'https://app.example:8443',
    'null',
    hub.url,
  ]) {
    const asked = await ask(hub, 'OPTIONS', { ...preflight, origin });
    expect(asked.headers).not.toHaveProperty('access-control-allow-origin');
    const { headers } = await requestToken(hub, ann, { origin });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  }
});

test('HTTP-02: without a list pages of the same origin alone may read the answer, and no cookie is ever used', async () => {
  await using hub = await hubOfAnn();
  const own = await requestToken(hub, ann, { origin: hub.url });
  expect(own.headers.get('access-control-allow-origin')).toBe(hub.url);
  expect(own.headers.get('access-control-allow-credentials')).toBeNull();
  expect(own.headers.get('set-cookie')).toBeNull();
  const other = await requestToken(hub, ann, { origin: 'https://app.example' });
  expect(other.headers.get('access-control-allow-origin')).toBeNull();
});
