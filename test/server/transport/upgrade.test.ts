import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';
import { eventually } from '../../support/eventually.js';
import { fakeClock } from '../../support/clock.js';
import { frame, opcodes, RawSocket, upgradeRequest } from '../../support/raw-socket.js';

/** A whole HTTP answer: its status, headers and JSON body; throws when it breaks off. */
function readAnswer(text: string): { status: number; headers: Map<string, string>; body: unknown } {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]));
  expect(Number(headers.get('content-length'))).toBe(body.length);
  expect(headers.get('connection')).toBe('close');
  return { status: Number(statusLine.split(' ', 2)[1]), headers, body: JSON.parse(body) };
}

test.each(['/nope', '/', '/ws/', '/wss', '/WS', '//ws', '/ws%3Fx', '/healthz', '/v1/auth/token', '*'])(
  'HTTP-01: an upgrade of the path %s is a complete 404 and a closed socket',
  async (path) => {
    await using hub = await startTestHub();
    using raw = await RawSocket.open(hub.url);
    raw.write(upgradeRequest(path));
    const { status, body } = readAnswer(await raw.rest());
    expect({ status, body }).toEqual({ status: 404, body: { error: 'the WebSocket endpoint is /ws' } });
  },
);

test.each([
  ['another protocol', { Upgrade: 'h2c' }],
  ['no key', { 'Sec-WebSocket-Key': undefined }],
  ['a key that is too short', { 'Sec-WebSocket-Key': 'c2hvcnQ=' }],
  ['no version', { 'Sec-WebSocket-Version': undefined }],
  ['version 7', { 'Sec-WebSocket-Version': '7' }],
  ['a subprotocol list with a hole', { 'Sec-WebSocket-Protocol': 'a,,b' }],
  ['a subprotocol twice', { 'Sec-WebSocket-Protocol': 'remotes.v1, remotes.v1' }],
])('HTTP-01: an upgrade with %s is a complete 400 with a JSON body', async (_what, headers) => {
  await using hub = await startTestHub();
  using raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest('/ws', { ...headers, Authorization: `Bearer ${await hub.token()}` }));
  const answer = readAnswer(await raw.rest());
  expect(answer.status).toBe(400);
  expect(answer.body).toEqual({ error: expect.stringMatching(/./u) });
  expect(answer.headers.get('content-type')).toBe('application/json');
  await hub.idle();
});

test('HTTP-01: an upgrade by another method than GET is 400', async () => {
  await using hub = await startTestHub();
  using raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest('/ws').replace('GET', 'PUT'));
  expect(readAnswer(await raw.rest()).status).toBe(400);
});

test.each([['GET'], ['POST'], ['DELETE']])('HTTP-01: a plain %s of the path is 426 and says what to upgrade to', async (method) => {
  await using hub = await startTestHub();
  const response = await fetch(`${hub.url}/ws?x=1`, { method });
  expect(response.status).toBe(426);
  expect(response.headers.get('upgrade')).toBe('websocket');
  expect(await response.json()).toMatchObject({ error: expect.stringContaining('WebSocket') });
  expect((await fetch(`${hub.url}/nope`)).status).toBe(404);
});

test('HTTP-01: a Remotes-Instance-Id that does not fit is 400, with or without credentials', async () => {
  await using hub = await startTestHub();
  for (const id of ['short', 'x'.repeat(129), '']) {
    using raw = await RawSocket.open(hub.url);
    raw.write(upgradeRequest('/ws', { 'Remotes-Instance-Id': id }));
    const { status, body } = readAnswer(await raw.rest());
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: 'Remotes-Instance-Id: expected 16 to 128 characters', code: 'invalid-body' },
    });
  }
});

test('HTTP-01: the answer arrives whole even when the client has sent frames after its request', async () => {
  await using hub = await startTestHub();
  for (let attempt = 0; attempt < 20; attempt += 1) {
    using raw = await RawSocket.open(hub.url);
    const early = frame(opcodes.text, 'x'.repeat(60_000));
    raw.write(Buffer.concat([Buffer.from(upgradeRequest('/nope')), early, early, early]));
    raw.write(Buffer.alloc(500_000));
    expect(readAnswer(await raw.rest()).status).toBe(404);
  }
});

test('K007: a hundred upgrades that are reset at once, and a hundred of a wrong path, leave nothing open', async () => {
  await using hub = await startTestHub();
  const started = openSockets();
  for (const path of ['/ws', '/nope']) {
    const request = upgradeRequest(path, { Authorization: `Bearer ${await hub.token()}` });
    for (let sent = 0; sent < 100; sent += 1) {
      const raw = await RawSocket.open(hub.url);
      raw.write(request);
      if (sent % 3 === 0) await raw.until('HTTP/1.1');
      raw.socket.resetAndDestroy();
      await raw.ended;
    }
  }
  using h2c = await RawSocket.open(hub.url);
  h2c.write(upgradeRequest('/ws', { Upgrade: 'h2c' }));
  expect(readAnswer(await h2c.rest()).status).toBe(400);
  await hub.idle();
  await eventually(() => openSockets() <= started, `${openSockets()} sockets open, ${started} at the start`);
  await using alive = await hub.connect();
  await alive.settle();
});

test('K007: a client that leaves while its login is checked leaves nothing behind', async () => {
  let letIn: (identity: { userId: string }) => void = () => undefined;
  const checked = new Promise<{ userId: string }>((resolve) => {
    letIn = resolve;
  });
  let asked = 0;
  await using hub = await startTestHub({}, { authenticate: () => ((asked += 1), checked) });
  const leaving = [await RawSocket.open(hub.url), await RawSocket.open(hub.url), await RawSocket.open(hub.url)] as const;
  for (const raw of leaving) raw.write(upgradeRequest('/ws', { Authorization: 'Bearer t' }));
  await eventually(() => asked === 3, 'three logins under way');
  leaving[0].socket.resetAndDestroy();
  leaving[1].socket.destroy();
  leaving[2].socket.end();
  await Promise.all([leaving[0].ended, leaving[1].ended]);
  letIn({ userId: 'u1' });
  await leaving[2].ended;
  await hub.idle();
  expect(hub.logs.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});

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
  expect(await pushedOut[0]?.end()).toEqual({ code: 4401, reason: 'too many connections that have not logged in' });

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
  for (const remotename of ['plain', 'v1']) v1.send({ action: 'remote-call', nonce: 1, body: { remotename, function: 'f' } });
  expect(await plain.next()).toEqual({ action: 'remote-call', requestId: 'plain#0', function: 'f', args: {} });
  expect(await v1.next()).toEqual({ action: 'remote-call', requestId: 'v1#0', function: 'f', args: {}, timeoutMs: 30_000 });
  expect(await v1.request('remote-call-cancel', { nonce: 1 })).toMatchObject({ cancelled: 2 });
  expect(await v1.next()).toEqual({ action: 'remote-call-cancel', requestId: 'v1#0', reason: 'call-cancelled' });
  await plain.settle();
  expect(plain.others).toEqual([]);
});

/** TCP connections of this process, both ends. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}
