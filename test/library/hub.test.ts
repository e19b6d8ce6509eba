import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocketServer, WebSocket } from 'ws';
import { createHub, type Hub } from '@remotes-hub/server';
import { expect, test } from 'vitest';
import { startTestHub, TEST_SECRET } from '../support/hub.js';
import { TestSession } from '../support/session.js';

const quiet = { auth: { secret: TEST_SECRET }, log: { level: 'silent' } } as const;

async function logIn(hub: Hub, url: string, user = 'u1'): Promise<TestSession> {
  const { token } = await hub.issueToken(user, 60_000);
  return TestSession.open(url, [], { headers: { authorization: `Bearer ${token}` } });
}

/** A server of the host program's own, with another WebSocket endpoint and a page. */
async function startOwnServer() {
  const server = createServer((_request, response) => response.end('the host program'));
  const other = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    if (request.url !== '/other') return;
    other.handleUpgrade(request, socket, head, (webSocket) => webSocket.send('the other endpoint'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return { server, host, close: () => server.closeAllConnections() };
}

test('LIB-01: a hub listens by itself on a free port and tells where', async () => {
  await using hub = createHub({ config: quiet });

  const { url, host, port } = await hub.listen({ port: 0 });

  expect({ url, host }).toEqual({ url: `http://127.0.0.1:${port}`, host: '127.0.0.1' });
  await using session = await logIn(hub, `ws://127.0.0.1:${port}/ws`);
  expect(await session.request('remote-list')).toMatchObject({ remotes: [] });
});

test('LIB-01: a hub attached to an own HTTP server answers its path and leaves the others alone', async () => {
  const own = await startOwnServer();
  await using hub = createHub({ config: { ...quiet, path: '/hub' } });
  hub.attach(own.server);

  await using session = await logIn(hub, `ws://${own.host}/hub`);
  expect(await session.request('ping')).toMatchObject({ message: 'pong' });
  const other = new WebSocket(`ws://${own.host}/other`);
  expect(String((await once(other, 'message'))[0])).toBe('the other endpoint');
  expect(await (await fetch(`http://${own.host}/`)).text()).toBe('the host program');

  await hub.close();
  expect(await session.end()).toEqual({ code: 1001, reason: 'the hub is going away' });
  expect(await (await fetch(`http://${own.host}/`)).text()).toBe('the host program');
  expect(own.server.listenerCount('upgrade')).toBe(1);
  other.terminate();
  own.server.close();
  own.close();
});

test('LIB-01: the HTTP endpoints can be mounted in an own server', async () => {
  await using hub = createHub({ config: quiet });
  const server = createServer(hub.requestListener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()).toEqual({ status: 'ok' });

  server.close();
  server.closeAllConnections();
});

test('LIB-02: an own authenticate function decides who logs in, and as whom', async () => {
  await using hub = await startTestHub(
    {},
    {
      authenticate: (credentials) =>
        'token' in credentials && credentials.token === 'letmein' ? { userId: 'ada' } : null,
    },
  );

  await using session = await hub.open();
  expect(await session.request('authenticate', { token: 'guess' })).toMatchObject({
    code: 'invalid-credentials',
  });
  expect(await session.request('authenticate', { token: 'letmein' })).toMatchObject({ userId: 'ada' });
  await expect(hub.hub.issueToken('ada')).rejects.toThrow(TypeError);
});

test('LIB-03: the host program serves a remote to the sessions of one user, and calls theirs', async () => {
  await using hub = await startTestHub();
  await using session = await hub.connect();
  await using stranger = await hub.connect({ user: 'u2' });
  hub.hub.connectRemote({
    userId: 'u1',
    remotename: 'host',
    functions: [
      { name: 'double', parameters: { type: 'object', required: ['n'] }, handler: ({ n }) => Number(n) * 2 },
    ],
  });
  await session.serve('page', ['title']);

  expect(await session.call('host', 'double', { n: 21 })).toMatchObject({ result: 42 });
  expect(await session.call('host', 'double', {})).toMatchObject({ code: 'invalid-arguments' });
  expect(await stranger.call('host', 'double', { n: 1 })).toMatchObject({ code: 'remote-not-connected' });
  const called = hub.hub.call({ userId: 'u1', remotename: 'page', function: 'title' });
  await session.answer('the title');
  expect(await called).toBe('the title');
  expect((await hub.hub.listRemotes('u1')).map(({ remotename }) => remotename)).toEqual(['host', 'page']);
});

test('LIB-04: closing twice is harmless, closes everything once, and nothing works after it', async () => {
  const started = await startTestHub();
  const { hub, url } = started;
  const session = await started.connect();
  await session.serve('x', ['f']);
  const call = session.call('x', 'f');
  await session.next('remote-call');

  await Promise.all([hub.close(), hub.close()]);
  await hub.close();

  expect(await call).toMatchObject({ code: 'shutting-down', executed: 'unknown' });
  expect(await session.end()).toEqual({ code: 1001, reason: 'the hub is going away' });
  expect(hub.counts()).toEqual({
    sessions: 0,
    unauthenticated: 0,
    remotes: 0,
    providers: 0,
    callers: 0,
    pendingCalls: 0,
    runs: 0,
    ignoredMessages: 0,
  });
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  expect(() => hub.connectRemote({ userId: 'u1', remotename: 'late', functions: [] })).toThrow(
    'shutting down',
  );
  await expect(hub.call({ userId: 'u1', remotename: 'x', function: 'f' })).rejects.toMatchObject({
    code: 'shutting-down',
  });
});

test('LIB-04: a hub that never listened closes', async () => {
  const hub = createHub({ config: quiet });
  await hub.close();
  expect(hub.counts().sessions).toBe(0);
});
