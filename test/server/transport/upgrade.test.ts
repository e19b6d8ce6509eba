import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';
import { eventually } from '../../support/eventually.js';
import { frame, opcodes, RawSocket, upgradeRequest } from '../../support/raw-socket.js';

/** A whole HTTP answer: its status, headers and JSON body; throws when it breaks off. */
function readAnswer(text: string): { status: number; headers: Map<string, string>; body: unknown } {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
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
  ['no host', { Host: undefined }],
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
  expect(answer.body).toHaveProperty('error', expect.stringMatching(/./u));
  expect(answer.headers.get('content-type')).toBe('application/json');
  await hub.idle();
});

test('HTTP-01: an upgrade of the whole address is one of its path', async () => {
  await using hub = await startTestHub();
  using raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest(`${hub.url}/ws?x=1`, { Authorization: `Bearer ${await hub.token()}` }));
  expect(await raw.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 101 /u);
});

test('HTTP-01: an upgrade by another method than GET is 400', async () => {
  await using hub = await startTestHub();
  using raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest('/ws').replace('GET', 'PUT'));
  expect(readAnswer(await raw.rest()).status).toBe(400);
});

test.each([['GET'], ['POST'], ['DELETE']])(
  'HTTP-01: a plain %s of the path is 426 and says what to upgrade to',
  async (method) => {
    await using hub = await startTestHub();
    const response = await fetch(`${hub.url}/ws?x=1`, { method });
    expect(response.status).toBe(426);
    expect(response.headers.get('upgrade')).toBe('websocket');
    expect(await response.json()).toHaveProperty('error', expect.stringContaining('WebSocket'));
    expect((await fetch(`${hub.url}/nope`)).status).toBe(404);
  },
);

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
  const leaving = [
    await RawSocket.open(hub.url),
    await RawSocket.open(hub.url),
    await RawSocket.open(hub.url),
  ] as const;
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

/** TCP connections of this process, both ends. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}
