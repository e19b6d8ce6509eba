import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { fakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { garbageCollector } from '../../support/garbage.js';
import { startTestHub, type TestHub } from '../../support/hub.js';
import { TestSession } from '../../support/session.js';

/** Answers every forwarded call at once with its arguments. */
function answerAll(session: TestSession): void {
  session.socket.on('message', (data: Buffer) => {
    const { action, requestId, args } = JSON.parse(data.toString()) as Record<string, unknown>;
    if (action === 'remote-call') session.send({ action: 'remote-call-result', requestId, result: args });
  });
}

/** Sends that many calls and waits for as many replies. */
async function callAtOnce(session: TestSession, count: number, more: object = {}): Promise<void> {
  let replies = 0;
  const listener = (): void => void (replies += 1);
  session.socket.on('message', listener);
  const body = { remotename: 'x', function: 'f', ...more };
  for (let nonce = 0; nonce < count; nonce += 1)
    session.socket.send(JSON.stringify({ action: 'remote-call', nonce, body }));
  await eventually(() => replies >= count, `${count} replies`);
  session.socket.off('message', listener);
}

function listeners(emitter: NodeJS.EventEmitter): Record<string, number> {
  return Object.fromEntries(emitter.eventNames().map((name) => [String(name), emitter.listenerCount(name)]));
}

/** The WebSocket that the hub has put on a raw socket. */
function webSocketOf(raw: Socket): WebSocket {
  const symbol = Object.getOwnPropertySymbols(raw).find(({ description }) => description === 'websocket');
  const webSocket: unknown = symbol && Reflect.get(raw, symbol);
  if (!(webSocket instanceof WebSocket)) throw new TypeError('no WebSocket');
  return webSocket;
}

async function attachedServer(
  hub: TestHub,
): Promise<{ url: string; raws: Socket[]; server: Server } & Disposable> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('it listens on a port');
  const raws: Socket[] = [];
  server.on('connection', (socket) => raws.push(socket));
  hub.hub.attach(server);
  return {
    url: `ws://127.0.0.1:${address.port}/ws`,
    raws,
    server,
    [Symbol.dispose]: () => void server.close(),
  };
}

test('K025: 1,000 calls one after another and 1,000 at once leave no listener, no timer and no warning', async () => {
  using _clock = fakeClock();
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  await using hub = await startTestHub();
  using own = await attachedServer(hub);
  const headers = { authorization: `Bearer ${await hub.token()}` };
  await using serving = await TestSession.open(own.url, [], { headers });
  await using caller = await TestSession.open(own.url, [], { headers });
  await serving.serve('x', ['f']);
  answerAll(serving);
  await caller.settle();
  const sockets = own.raws.flatMap((raw) => [raw, webSocketOf(raw)]);
  expect(sockets).toHaveLength(4);

  await callAtOnce(caller, 1);
  const before = {
    listeners: sockets.map(listeners),
    timers: vi.getTimerCount(),
    process: listeners(process),
  };
  for (let call = 0; call < 1_000; call += 1) await callNext(caller, call);
  await callAtOnce(caller, 1_000);
  const after = {
    listeners: sockets.map(listeners),
    timers: vi.getTimerCount(),
    process: listeners(process),
  };
  expect(after).toEqual(before);
  expect(warnings).toEqual([]);
  process.off('warning', onWarning);
  expect(hub.hub.counts().pendingCalls).toBe(0);
});

async function callNext(session: TestSession, nonce: number): Promise<void> {
  const replied = once(session.socket, 'message');
  session.socket.send(`{"action":"remote-call","nonce":${nonce},"body":{"remotename":"x","function":"f"}}`);
  await replied;
}

test('K025, K046: sessions, calls of every ending and logins leave no timer behind', async () => {
  using clock = fakeClock();
  const started = vi.getTimerCount();
  {
    await using hub = await startTestHub();
    const idle = vi.getTimerCount();
    const serving = await hub.connect();
    const caller = await hub.connect({ v1: true });
    const waiting = await hub.open();
    await serving.serve('x', ['f']);
    for (const timeoutMs of [50, 600_000]) {
      caller.send({
        action: 'remote-call',
        nonce: timeoutMs,
        body: { remotename: 'x', function: 'f', timeoutMs },
      });
    }
    await serving.next('remote-call');
    await serving.next('remote-call');
    await clock.advance(50);
    expect(await caller.reply(50)).toMatchObject({ code: 'call-timeout' });
    for (const session of [waiting, caller, serving]) await session.close();
    await hub.idle();
    await clock.advance(600_000); // the one timer of all deadlines runs once more, for nothing
    expect(vi.getTimerCount()).toBe(idle);
  }
  expect(vi.getTimerCount()).toBe(started);
});

test('K046: 10,000 answered calls and 1,000 that time out leave nothing pending', async () => {
  await using hub = await startTestHub();
  const serving = await hub.connect();
  const caller = await hub.connect();
  await serving.serve('x', ['f', 'never']);
  serving.socket.removeAllListeners('message');
  serving.socket.on('message', (data: Buffer) => {
    const { requestId, function: name } = JSON.parse(data.toString()) as Record<string, unknown>;
    if (name === 'f') serving.send({ action: 'remote-call-result', requestId, result: null });
  });
  for (let batch = 0; batch < 10; batch += 1) await callAtOnce(caller, 1_000);
  await callAtOnce(caller, 1_000, { function: 'never', timeoutMs: 50 });
  expect(caller.replies.filter(({ code }) => code === 'call-timeout')).toHaveLength(1_000);
  expect(caller.replies.filter((reply) => reply['result'] === null)).toHaveLength(10_000);
  await hub.idle(2);
});

test('an open connection does not keep the request that it began with', async () => {
  await using hub = await startTestHub();
  using own = await attachedServer(hub);
  const requests: WeakRef<object>[] = [];
  own.server.on('upgrade', (request) => requests.push(new WeakRef(request)));
  const headers = { authorization: `Bearer ${await hub.token()}` };
  const sessions: TestSession[] = [];
  for (let count = 0; count < 5; count += 1) sessions.push(await TestSession.open(own.url, [], { headers }));
  await sessions[0]?.settle();
  const collect = garbageCollector();
  await eventually(() => {
    collect();
    return requests.every((request) => request.deref() === undefined);
  }, 'every request is forgotten');
  expect(requests).toHaveLength(5);
  for (const session of sessions) await session.close();
});
