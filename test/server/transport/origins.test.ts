import { expect, test } from 'vitest';
import { AllowedOrigins } from '../../../server/src/transport/allowed-origins.js';
import { startTestHub, type TestHub } from '../../support/hub.js';
import { RawSocket, upgradeRequest } from '../../support/raw-socket.js';
import { TestSession } from '../../support/session.js';

async function statusOf(hub: TestHub, headers: Record<string, string>): Promise<string> {
  using raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest('/ws', headers));
  await raw.until('\r\n\r\n');
  return raw.text;
}

const app = 'https://app.example';

test.each([
  'https://evil.example',
  'https://app.example.evil.example',
  'https://evilapp.example',
  'https://app.example:8443',
  'https://app.example:443',
  'http://app.example',
  'HTTPS://APP.EXAMPLE',
  'https://app.example/',
  'https://app.example@evil.example',
  `${app}, https://evil.example`,
  'null',
  '*',
  '',
])('K010: with a list of origins %j is refused with 403 before any 101', async (origin) => {
  await using hub = await startTestHub({ auth: { allowedOrigins: [app, 'https://other.example:8443'] } });
  const token = await hub.token();
  const answer = await statusOf(hub, { Origin: origin, Authorization: `Bearer ${token}` });
  expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/u);
  expect(answer).toMatch(/\{"error":"pages of this origin may not connect"\}$/u);
  expect(hub.hub.counts()).toMatchObject({ sessions: 0, unauthenticated: 0 });
});

test('K010: a listed origin connects; so does a script without an origin; both still have to log in', async () => {
  await using hub = await startTestHub({ auth: { allowedOrigins: [app] } });
  await using page = await TestSession.open(hub.socketUrl, [], { headers: { origin: app } });
  await using script = await TestSession.open(hub.socketUrl);
  for (const session of [page, script]) {
    expect(await session.request('remote-list')).toMatchObject({ code: 'not-authenticated' });
    expect(await session.request('authenticate', { token: await hub.token() })).toMatchObject({
      userId: 'u1',
    });
  }
});

test('AUTH-14: without a list a page of the host that it asks connects, and no other', async () => {
  await using hub = await startTestHub();
  const { host, port } = new URL(hub.url);
  for (const origin of [`http://${host}`, `https://${host}`]) {
    expect(await statusOf(hub, { Host: host, Origin: origin })).toMatch(/^HTTP\/1\.1 101 /u);
  }
  for (const origin of [
    `http://localhost:${port}`,
    'http://127.0.0.1',
    'https://evil.example',
    'null',
    'file://',
    '',
  ]) {
    expect(await statusOf(hub, { Host: host, Origin: origin })).toMatch(/^HTTP\/1\.1 403 /u);
  }
});

const sameHost = new AllowedOrigins(undefined);

test.each([
  ['https://app.example', 'app.example', true],
  ['https://app.example', 'app.example:443', true],
  ['http://app.example', 'app.example:80', true],
  ['http://app.example', 'APP.example', true],
  ['http://[::1]:8080', '[::1]:8080', true],
  ['http://app.example:8080', 'app.example:8080', true],
  ['https://app.example', 'app.example:80', false],
  ['http://app.example', 'app.example:443', false],
  ['http://app.example:8080', 'app.example', false],
  ['https://sub.app.example', 'app.example', false],
  ['https://app.example', undefined, false],
  ['https://app.example', '', false],
  ['https://app.example', 'not a host', false],
  ['null', 'null', false],
  ['null', 'app.example', false],
  ['null', 'not a host', false],
  ['null', '', false],
  ['', '', false],
  ['', 'not a host', false],
  ['garbage', 'garbage', false],
  ['file://', '', false],
  ['https://app.example/page', 'app.example', false],
  ['https://user@app.example', 'app.example', false],
  ['data:text/html,x', 'x', false],
])('AUTH-14: without a list, origin %j asking host %j: %j', (origin, host, expected) => {
  expect(sameHost.allowsOrigin(origin, host)).toBe(expected);
});

test.each([
  [['*'], 'https://anything.example', true],
  [['*'], 'null', true],
  [[], app, false],
  [[app], app, true],
  [[app], 'null', false],
  [[app], 'constructor', false],
])('AUTH-14: with the list %j, origin %j: %j, whatever the host', (allowed, origin, expected) => {
  const origins = new AllowedOrigins(allowed);
  expect(origins.allowsOrigin(origin, 'app.example')).toBe(expected);
  expect(origins.allowsOrigin(origin, undefined)).toBe(expected);
});
