import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';
import { RawSocket, upgradeRequest } from '../../support/raw-socket.js';

test('SESSION-04: beyond the sessions of the hub an upgrade is 503 with Retry-After, whoever asks, until one leaves', async () => {
  await using hub = await startTestHub({ limits: { maxSessions: 2 } });
  const [first] = [await hub.connect(), await hub.connect({ user: 'u2' })];
  for (const headers of [{ Authorization: `Bearer ${await hub.token('u3')}` }, {}]) {
    using raw = await RawSocket.open(hub.url);
    raw.write(upgradeRequest('/ws', headers));
    const answer = await raw.rest();
    expect(answer).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/u);
    expect(answer).toMatch(/\r\nRetry-After: \d+\r\n/u);
    expect(answer).toMatch(/\{"error":"the hub is full","code":"rate-limited"\}$/u);
  }
  await first?.close();
  await hub.idle(1);
  await using third = await hub.connect({ user: 'u3' });
  await third.settle();
});

test('SESSION-04: a login that comes when the hub is full by then is closed with 4429', async () => {
  await using hub = await startTestHub({ limits: { maxSessions: 2 } });
  const waiting = await hub.open();
  const sessions = [await hub.connect(), await hub.connect()];
  waiting.send({ action: 'authenticate', nonce: 1, body: { token: await hub.token() } });
  waiting.send({ action: 'remote-connect', nonce: 2, body: { remotename: 'x', tools: [] } });
  expect(await waiting.end()).toEqual({ code: 4429, reason: 'too many sessions' });
  expect(waiting.frames).toEqual([]);
  expect(await sessions[0]?.remotes()).toEqual([]);
  await hub.idle(2);
});

test('SESSION-04: beyond the sessions of one user its login is closed with 4429, at the upgrade too; others get in', async () => {
  await using hub = await startTestHub({ limits: { maxSessionsPerUser: 2 } });
  const first = await hub.connect();
  const second = await hub.connect();
  const late = await hub.open();
  late.send({ action: 'authenticate', body: { token: await hub.token() } });
  expect(await late.end()).toEqual({ code: 4429, reason: 'too many sessions' });

  using raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest('/ws', { Authorization: `Bearer ${await hub.token()}` }));
  const answer = await raw.until('too many sessions');
  expect(answer).toMatch(/^HTTP\/1\.1 101 /u);
  expect(answer).not.toContain('session-opened');
  raw.socket.destroy();

  await hub.connect({ user: 'u2' });
  await second.close();
  await hub.idle(2);
  await hub.connect();
  await first.event('session-opened');
  await hub.idle(3);
});
