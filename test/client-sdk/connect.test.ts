import { createServer } from 'node:http';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { HubError, connect } from '@remotes-hub/client';
import { ScriptedHub, authenticated } from './scripted-hub.js';

test('connect offers remotes.v1, logs in with its first message and tells who it is', async () => {
  await using hub = await ScriptedHub.start();
  const connecting = connect(hub.url, { token: 'secret', instanceId: 'a'.repeat(16) });
  const login = await hub.answer({ ...authenticated, expiresAt: 5_000 });
  await using client = await connecting;

  expect(login).toMatchObject({
    action: 'authenticate',
    body: { token: 'secret', instanceId: 'a'.repeat(16) },
  });
  expect(hub.socket.protocol).toBe('remotes.v1');
  expect(client).toMatchObject({ userId: 'u1', sessionId: 's1', expiresAt: 5_000, isOpen: true });
});

test('a username and password log in as well', async () => {
  await using hub = await ScriptedHub.start();
  const connecting = connect(new URL(hub.url), { username: 'ada', password: 'pw' });
  const login = await hub.answer(authenticated);
  await using client = await connecting;

  expect(login['body']).toEqual({
    username: 'ada',
    password: 'pw',
    instanceId: expect.stringMatching(/^[0-9a-f]{32}$/u) as unknown,
  });
  expect(client.expiresAt).toBeUndefined();
});

test('K162: a hub that closes before any reply rejects connect with its code and reason', async () => {
  await using hub = await ScriptedHub.start((socket) => socket.close(1008, 'not today'));

  await expect(connect(hub.url, { token: 'secret' })).rejects.toMatchObject({
    name: 'HubError',
    code: 'connection-lost',
    closeCode: 1008,
    reason: 'not today',
    message: 'the connection to the hub has ended (1008: not today)',
  });
});

test('K162: a hub that never replies rejects connect within connectTimeoutMs', async () => {
  await using hub = await ScriptedHub.start();

  await expect(connect(hub.url, { token: 'secret', connectTimeoutMs: 50 })).rejects.toMatchObject({
    code: 'connection-lost',
    reason: 'the hub did not answer within 50 ms',
  });
});

test('K162: a server that never answers the upgrade rejects connect within connectTimeoutMs', async () => {
  const server = createServer();
  server.on('upgrade', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;

  await expect(
    connect(`ws://127.0.0.1:${port}/ws`, { token: 'secret', connectTimeoutMs: 50 }),
  ).rejects.toMatchObject({ code: 'connection-lost', message: 'the hub did not answer within 50 ms' });
  server.closeAllConnections();
  server.close();
});

test('K162: a hub that replies with an error rejects connect with its code and text, and is left', async () => {
  await using hub = await ScriptedHub.start();
  const connecting = connect(hub.url, { token: 'secret' });
  connecting.catch(() => undefined);
  await hub.answer({ error: 'the token is not valid', code: 'invalid-credentials' });
  const left = once(hub.socket, 'close');

  await expect(connecting).rejects.toMatchObject({
    code: 'invalid-credentials',
    closeCode: undefined,
    reason: 'the token is not valid',
    message: 'the token is not valid',
  });
  await left;
});

test.each([
  [4401, 'not-authenticated'],
  [1001, 'shutting-down'],
  [4429, 'rate-limited'],
  [1009, 'message-too-large'],
])('a close with %i before the login means %s', async (closeCode, code) => {
  await using hub = await ScriptedHub.start((socket) => socket.close(closeCode));

  await expect(connect(hub.url, { token: 'secret' })).rejects.toMatchObject({ code, closeCode, reason: '' });
});

test('a port where nobody listens rejects connect and says so', async () => {
  const connecting = connect('ws://127.0.0.1:1/ws', { token: 'secret' });

  await expect(connecting).rejects.toMatchObject({ code: 'connection-lost', closeCode: 1006 });
  await expect(connecting).rejects.toThrow('ECONNREFUSED');
});

test('a signal gives up connect at once', async () => {
  await using hub = await ScriptedHub.start();
  const controller = new AbortController();
  const connecting = connect(hub.url, { token: 'secret', signal: controller.signal });
  connecting.catch(() => undefined);
  await hub.next();
  controller.abort('changed my mind');

  await expect(connecting).rejects.toMatchObject({ code: 'call-cancelled', cause: 'changed my mind' });
  await expect(connecting).rejects.toBeInstanceOf(HubError);
});

test.each(Array.from({ length: 10 }, (_, count) => count))(
  'a signal that aborts after %i microtasks gives up at once, and nobody is logged in',
  async (microtasks) => {
    await using hub = await ScriptedHub.start();
    const controller = new AbortController();
    const connecting = connect(hub.url, { token: async () => 'secret', signal: controller.signal });
    const start = performance.now();
    connecting.catch(() => undefined);
    for (let count = 0; count < microtasks; count += 1) await Promise.resolve();
    controller.abort();

    await expect(connecting).rejects.toMatchObject({ code: 'call-cancelled' });
    expect(performance.now() - start).toBeLessThan(5_000);

    const later = connect(hub.url, { token: 'later' });
    expect(await hub.answer(authenticated)).toMatchObject({ body: { token: 'later' } });
    await using client = await later;
    expect(client.isOpen).toBe(true);
    expect(hub.untaken).toEqual([]);
  },
);

test('an aborted signal connects to nobody', async () => {
  await using hub = await ScriptedHub.start();

  await expect(connect(hub.url, { token: 'secret', signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'call-cancelled',
  });
  expect(() => hub.socket).toThrow('no client has connected');
});

test('a socket that cannot be made rejects connect and says why', async () => {
  class RefusedSocket extends WebSocket {
    constructor() {
      super('no url');
    }
  }
  const connecting = connect('ws://127.0.0.1:1/ws', { token: 'secret', WebSocket: RefusedSocket });

  await expect(connecting).rejects.toMatchObject({ name: 'HubError', code: 'connection-lost' });
  await expect(connecting).rejects.toThrow('cannot connect: Invalid URL: no url');
});
