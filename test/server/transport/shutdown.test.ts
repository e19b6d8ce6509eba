import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { startTestHub, type TestHub } from '../../support/hub.js';
import { RawSocket, upgradeRequest } from '../../support/raw-socket.js';

/** A session whose peer never answers a close frame. */
async function stubbornSession(hub: TestHub): Promise<RawSocket> {
  const raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest('/ws', { Authorization: `Bearer ${await hub.token('stubborn')}` }));
  await raw.until('session-opened');
  return raw;
}

test('SHUTDOWN-01: pending calls fail as shutting-down before their sessions are closed with 1001', async () => {
  await using hub = await startTestHub();
  const serving = await hub.connect();
  const caller = await hub.connect();
  const unauthenticated = await hub.open();
  await serving.serve('x', ['f']);
  const reply = caller.call('x', 'f', {});
  await serving.next('remote-call');
  const closed = hub.hub.close();
  expect(await reply).toEqual({
    error: 'the hub is shutting down',
    code: 'shutting-down',
    executed: 'unknown',
    retryable: false,
    requestId: 'x#0',
    nonce: 't1',
  });
  for (const session of [serving, caller, unauthenticated]) {
    expect(await session.end()).toEqual({ code: 1001, reason: 'the hub is going away' });
  }
  await closed;
  await hub.idle();
});

test('SHUTDOWN-01: while the hub closes, upgrades are answered 503 and calls of the host program shutting-down', async () => {
  await using hub = await startTestHub();
  using stubborn = await stubbornSession(hub);
  const token = await hub.token();
  const closed = hub.hub.close();
  await stubborn.until('the hub is going away');
  for (const headers of [{}, { Authorization: `Bearer ${token}` }]) {
    using raw = await RawSocket.open(hub.url);
    raw.write(upgradeRequest('/ws', headers));
    const answer = await raw.rest();
    expect(answer).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/u);
    expect(answer).toMatch(/\{"error":"the hub is shutting down","code":"shutting-down"\}$/u);
  }
  const call = hub.hub.call({ userId: 'u1', remotename: 'x', function: 'f', args: {} });
  await expect(call).rejects.toMatchObject({ code: 'shutting-down', executed: 'no', retryable: true });
  stubborn.socket.destroy();
  await closed;
});

test('SHUTDOWN-01: an upgrade whose login is being checked when the hub closes is answered 503', async () => {
  let letIn: (identity: { userId: string }) => void = () => undefined;
  const checked = new Promise<{ userId: string }>((resolve) => {
    letIn = resolve;
  });
  let asked = 0;
  await using hub = await startTestHub({}, { authenticate: () => ((asked += 1), checked) });
  using raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest('/ws', { Authorization: 'Bearer t' }));
  await eventually(() => asked === 1, 'a login under way');
  const closed = hub.hub.close();
  letIn({ userId: 'u1' });
  expect(await raw.rest()).toMatch(/^HTTP\/1\.1 503 [^]*"code":"shutting-down"\}$/u);
  await closed;
  await hub.idle();
});

test('SHUTDOWN-01: a login that is never decided does not hold up the end of the hub', async () => {
  let asked = 0;
  const never = new Promise<undefined>(() => undefined);
  await using hub = await startTestHub({}, { authenticate: () => ((asked += 1), never) });
  using raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest('/ws', { Authorization: 'Bearer t' }));
  await eventually(() => asked === 1, 'a login under way');
  await hub.hub.close();
  expect(await raw.rest()).toMatch(/^HTTP\/1\.1 503 [^]*"code":"shutting-down"\}$/u);
});

test('a login at the upgrade that is not decided in time is answered 503, and its place is free again', async () => {
  using clock = fakeClock();
  let asked = 0;
  const never = new Promise<undefined>(() => undefined);
  await using hub = await startTestHub(
    { limits: { maxUnauthenticated: 1 } },
    { authenticate: () => ((asked += 1), never) },
  );
  const headers = { Authorization: 'Bearer t' };
  using waiting = await RawSocket.open(hub.url);
  waiting.write(upgradeRequest('/ws', headers));
  await eventually(() => asked === 1, 'a login under way');
  using tooMany = await RawSocket.open(hub.url);
  tooMany.write(upgradeRequest('/ws', headers));
  expect(await tooMany.rest()).toMatch(/^HTTP\/1\.1 503 [^]*"error":"the hub is full"/u);
  await clock.advance(9_999);
  expect(waiting.text).toBe('');
  await clock.advance(1);
  expect(await waiting.rest()).toMatch(/^HTTP\/1\.1 503 [^]*"code":"internal-error"\}$/u);
  using next = await RawSocket.open(hub.url);
  next.write(upgradeRequest('/ws', headers));
  await eventually(() => asked === 2, 'another login under way');
});

test('K026: peers that do not close are cut off after 3 s, at once with the others gone', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  using stubborn = await stubbornSession(hub);
  let isClosed = false;
  const closed = hub.hub.close().then(() => (isClosed = true));
  await stubborn.until('the hub is going away');
  await clock.advance(2_999);
  expect(isClosed).toBe(false);
  await clock.advance(1);
  await closed;
  await stubborn.rest();
});

test('LIMIT-02: shutdownTimeoutMs 0 cuts them off at once', async () => {
  await using hub = await startTestHub({ limits: { shutdownTimeoutMs: 0 } });
  using stubborn = await stubbornSession(hub);
  await hub.hub.close();
  await stubborn.rest();
});

test('closing twice, at once and later, is one end', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  await Promise.all([hub.hub.close(), hub.hub.close()]);
  await hub.hub.close();
  expect(await session.end()).toMatchObject({ code: 1001 });
});
