import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { startTestHub } from '../../support/hub.js';
import { frame, opcodes, RawSocket, upgradeRequest } from '../../support/raw-socket.js';

test('K011: a token in the query is no credential and appears in no log line', async () => {
  await using hub = await startTestHub();
  const secret = await hub.token('SECRET123');
  using raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest(`/ws?token=${secret}&access_token=${secret}`));
  await raw.until('101 Switching Protocols');
  raw.write(frame(opcodes.text, '{"action":"remote-list","nonce":1}'));
  await raw.until('{"error":"log in first","code":"not-authenticated","nonce":1}');
  expect(hub.hub.counts()).toMatchObject({ sessions: 0, unauthenticated: 1 });
  for (const path of [`/nope?token=${secret}`, `/ws?token=${secret}`]) {
    using refused = await RawSocket.open(hub.url);
    refused.write(upgradeRequest(path, { Origin: 'https://evil.example' }));
    expect(await refused.rest()).not.toContain(secret);
    expect(await (await fetch(hub.url + path)).text()).not.toContain(secret);
  }
  expect(JSON.stringify(hub.logs)).not.toContain(secret);
});

test('K012: three hundred idle connections of one address do not keep a client out, and are gone after 10 s', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const idle = await Promise.all(Array.from({ length: 300 }, () => hub.open()));
  expect(hub.hub.counts().unauthenticated).toBeLessThanOrEqual(100);
  const genuine = await hub.open();
  expect(await genuine.request('authenticate', { token: await hub.token() })).toMatchObject({ userId: 'u1' });
  const pushedOut = idle.filter(({ isOpen }) => !isOpen);
  expect(pushedOut.length).toBeGreaterThanOrEqual(200);
  expect(await pushedOut[0]?.end()).toEqual({
    code: 4401,
    reason: 'too many connections that have not logged in',
  });

  await clock.advance(10_000);
  for (const session of idle) expect(await session.end()).toMatchObject({ code: 4401 });
  await genuine.settle();
  await hub.idle(1);
});

test('WIRE-11: remotes.v1 is selected among all offers, no other one is, and none is needed', async () => {
  await using hub = await startTestHub();
  const token = await hub.token();
  const offers: [string | undefined, string | undefined][] = [
    ['remotes.v1', 'remotes.v1'],
    ['chat, remotes.v1, remotes.v2', 'remotes.v1'],
    ['remotes.v2', undefined],
    ['Remotes.V1', undefined],
    ['constructor', undefined],
    [undefined, undefined],
  ];
  for (const [offered, selected] of offers) {
    using raw = await RawSocket.open(hub.url);
    raw.write(upgradeRequest('/ws', { 'Sec-WebSocket-Protocol': offered, Authorization: `Bearer ${token}` }));
    const answer = await raw.until('session-opened');
    expect(answer).toMatch(/^HTTP\/1\.1 101 /u);
    expect(/Sec-WebSocket-Protocol: (.*)\r\n/u.exec(answer)?.[1]).toBe(selected);
    expect(answer).not.toMatch(/Sec-WebSocket-Extensions/iu);
  }
});

test('WIRE-11: what remotes.v1 adds reaches those alone that selected it', async () => {
  await using hub = await startTestHub();
  const plain = await hub.connect();
  const v1 = await hub.connect({ v1: true });
  await plain.serve('plain', ['f']);
  await v1.serve('v1', ['f']);
  for (const remotename of ['plain', 'v1'])
    v1.send({ action: 'remote-call', nonce: 1, body: { remotename, function: 'f' } });
  expect(await plain.next()).toEqual({
    action: 'remote-call',
    requestId: 'plain#0',
    function: 'f',
    args: {},
  });
  expect(await v1.next()).toEqual({
    action: 'remote-call',
    requestId: 'v1#0',
    function: 'f',
    args: {},
    timeoutMs: 30_000,
  });
  expect(await v1.request('remote-call-cancel', { nonce: 1 })).toMatchObject({ cancelled: 2 });
  expect(await v1.next()).toEqual({
    action: 'remote-call-cancel',
    requestId: 'v1#0',
    reason: 'call-cancelled',
  });
  await plain.settle();
  expect(plain.others).toEqual([]);
});
