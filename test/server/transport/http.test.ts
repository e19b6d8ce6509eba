import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { startTestHub } from '../../support/hub.js';
import { RawSocket, upgradeRequest } from '../../support/raw-socket.js';
import { TestSession } from '../../support/session.js';

test('HTTP-04: healthz and readyz are 200 while the hub takes sessions', async () => {
  await using hub = await startTestHub();
  for (const path of ['/healthz', '/readyz', '/healthz?x', '/readyz?x']) {
    expect((await fetch(hub.url + path)).status).toBe(200);
    expect((await fetch(hub.url + path, { method: 'HEAD' })).status).toBe(200);
  }
  expect((await fetch(`${hub.url}/healthz/`)).status).toBe(404);
});

test('HTTP-04: while the hub shuts down readyz is 503 and healthz still 200', async () => {
  await using hub = await startTestHub();
  using stubborn = await RawSocket.open(hub.url);
  stubborn.write(upgradeRequest('/ws', { Authorization: `Bearer ${await hub.token()}` }));
  await stubborn.until('session-opened');
  const closed = hub.hub.close();
  await stubborn.until('the hub is going away');
  expect((await fetch(`${hub.url}/readyz`)).status).toBe(503);
  expect((await fetch(`${hub.url}/healthz`)).status).toBe(200);
  stubborn.socket.destroy();
  await closed;
});

/** Somebody's own HTTP server, on a free port. */
async function ownServer(): Promise<{ server: Server; url: string } & AsyncDisposable> {
  const server = createServer((request, response) => void response.end(`own ${request.url}`));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('it listens on a port');
  return {
    server,
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

test("LIB-01: attached to somebody's own server, the hub answers its path and leaves the others alone", async () => {
  await using hub = await startTestHub();
  await using own = await ownServer();
  const echo = new WebSocketServer({ noServer: true });
  echo.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => socket.send(`echo ${data.toString()}`)),
  );
  own.server.on('upgrade', (request, socket, head) => {
    if (request.url === '/echo')
      echo.handleUpgrade(request, socket, head, (webSocket) => echo.emit('connection', webSocket));
  });
  hub.hub.attach(own.server);

  const headers = { authorization: `Bearer ${await hub.token()}` };
  await using session = await TestSession.open(`${own.url.replace('http', 'ws')}/ws?x=1`, [], { headers });
  await session.event('session-opened');
  await session.settle();
  using other = await RawSocket.open(own.url);
  other.write(upgradeRequest('/echo'));
  expect(await other.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 101 /u);
  expect(await (await fetch(`${own.url}/page`)).text()).toBe('own /page');
  using refused = await RawSocket.open(own.url);
  refused.write(upgradeRequest('/ws', { Authorization: 'Bearer x' }));
  expect(await refused.rest()).toMatch(/^HTTP\/1\.1 401 /u);

  await hub.hub.close();
  expect(await session.end()).toMatchObject({ code: 1001 });
  expect(own.server.listenerCount('upgrade')).toBe(1);
  expect(await (await fetch(`${own.url}/page`)).text()).toBe('own /page');
  other.socket.destroy();
});

test('LIB-01: attached alone, an upgrade of a path that nobody serves is refused with 404 rather than left open', async () => {
  await using hub = await startTestHub();
  await using own = await ownServer();
  hub.hub.attach(own.server);
  using raw = await RawSocket.open(own.url);
  raw.write(upgradeRequest('/nope'));
  expect(await raw.rest()).toMatch(/^HTTP\/1\.1 404 /u);
});

test('LIB-01: two hubs on one server, at different paths, do not disturb each other', async () => {
  await using first = await startTestHub();
  await using second = await startTestHub({ path: '/two' });
  await using own = await ownServer();
  first.hub.attach(own.server);
  second.hub.attach(own.server);
  for (const [hub, path] of [
    [first, '/ws'],
    [second, '/two'],
  ] as const) {
    const headers = { authorization: `Bearer ${await hub.token()}` };
    await using session = await TestSession.open(own.url.replace('http', 'ws') + path, [], { headers });
    await session.event('session-opened');
    expect(hub.hub.counts().sessions).toBe(1);
  }
  await first.hub.close();
  const headers = { authorization: `Bearer ${await second.token()}` };
  await using session = await TestSession.open(`${own.url.replace('http', 'ws')}/two`, [], { headers });
  await session.event('session-opened');
});

test.each([
  ['nothing', ''],
  ['half a request', 'GET /ws HTTP/1.1\r\nHost: x\r\nUpgr'],
  ['garbage', '\x16\x03\x01\x02\x00\x01\x00'],
  [
    'a request whose body never comes',
    'POST /v1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
  ],
  ['half an upgrade body', `${upgradeRequest('/ws').trimEnd()}\r\nContent-Length: 10\r\n\r\nabc`],
])('a connection that has sent %s holds up neither others nor the end of the hub', async (_what, text) => {
  await using hub = await startTestHub();
  using raw = await RawSocket.open(hub.url);
  raw.write(text);
  using halfOpen = await RawSocket.open(hub.url);
  halfOpen.socket.allowHalfOpen = true;
  halfOpen.socket.end(text);
  const session = await hub.connect();
  await session.settle();
  await hub.hub.close();
  await raw.rest();
  await halfOpen.rest();
});

test('headers beyond what a token needs are refused by the server, and the hub lives', async () => {
  await using hub = await startTestHub();
  using raw = await RawSocket.open(hub.url);
  raw.write(upgradeRequest('/ws', { Authorization: `Bearer ${'x'.repeat(40_000)}` }));
  expect(await raw.rest()).toMatch(/^HTTP\/1\.1 431 /u);
  const session = await hub.connect();
  await session.settle();
});
