import { expect, test, vi } from 'vitest';
import { connect, type Socket } from '@remotes-hub/client';
import { WebSocket } from 'ws';
import { LoggedIn, ScriptedHub, authenticated } from './scripted-hub.js';
import { fakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';

/** `ws` as a page knows its socket: nothing but what the standard has. */
class PageSocket implements Socket {
  readonly #socket: WebSocket;
  readonly addEventListener: Socket['addEventListener'];
  readonly removeEventListener: Socket['removeEventListener'];

  constructor(url: string, protocol: string) {
    this.#socket = new WebSocket(url, protocol);
    this.addEventListener = this.#socket.addEventListener.bind(this.#socket);
    this.removeEventListener = this.#socket.removeEventListener.bind(this.#socket);
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  close(code?: number, reason?: string): void {
    this.#socket.close(code, reason);
  }
}

test('close sends code and reason, and is harmless a second time', async () => {
  await using session = await LoggedIn.start();
  const { socket } = session.hub;
  const closed = new Promise<unknown>((resolve) => {
    socket.on('close', (code, reason) => resolve([code, reason.toString()]));
  });
  const events: unknown[] = [];
  session.client.on('close', (close) => events.push(close));
  await session.client.close(4000, 'bye');
  await session.client.close();

  expect(await closed).toEqual([4000, 'bye']);
  expect(await session.client.closed).toEqual({ code: 4000, reason: 'bye' });
  expect(events).toEqual([{ code: 4000, reason: 'bye' }]);
  expect(session.client.isOpen).toBe(false);
});

test('a close of the hub tells its code and reason, and fails what is in flight', async () => {
  await using session = await LoggedIn.start();
  const { hub, client } = session;
  const [calling, listing] = [client.call('x', 'f'), client.list()];
  calling.catch(() => undefined);
  listing.catch(() => undefined);
  await hub.next();
  await hub.next();
  hub.socket.close(4401, 'the token has expired');

  expect(await client.closed).toEqual({ code: 4401, reason: 'the token has expired' });
  await expect(calling).rejects.toMatchObject({
    name: 'RemoteError',
    code: 'connection-lost',
    executed: 'unknown',
    message: 'the connection to the hub has ended (4401: the token has expired)',
  });
  await expect(listing).rejects.toMatchObject({
    name: 'HubError',
    code: 'connection-lost',
    closeCode: 4401,
    reason: 'the token has expired',
  });
});

test('a connection that breaks without a close is 1006', async () => {
  await using session = await LoggedIn.start();
  session.hub.socket.terminate();

  expect(await session.client.closed).toMatchObject({ code: 1006 });
});

test('after the close calls fail unsent, everything else too, and handlers are told', async () => {
  await using session = await LoggedIn.start();
  const { hub, client } = session;
  const signals: AbortSignal[] = [];
  await session.serve({
    f: {
      handler: async (_args, { signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    },
  });
  hub.send({ action: 'remote-call', requestId: 'x#0', function: 'f', args: {} });
  await session.settled();
  await client.close();

  expect(signals[0]?.aborted).toBe(true);
  expect(signals[0]?.reason).toMatchObject({ code: 'connection-lost' });
  await expect(client.call('x', 'f')).rejects.toMatchObject({ code: 'connection-lost', executed: 'no' });
  await expect(client.list()).rejects.toMatchObject({ name: 'HubError', code: 'connection-lost' });
  await expect(client.serve('y', {})).rejects.toMatchObject({ code: 'connection-lost' });
});

test('a call made while the connection closes is not sent', async () => {
  await using session = await LoggedIn.start();
  const closing = session.client.close();

  await expect(session.client.call('x', 'f')).rejects.toMatchObject({
    code: 'connection-lost',
    executed: 'no',
    message: 'there is no connection to the hub',
  });
  await closing;
});

test('a hub that does not answer the close is left after 2 s', async () => {
  await using session = await LoggedIn.start();
  session.hub.socket.pause(); // reads no more, so it never sees the close
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const closing = session.client.close();
    await vi.advanceTimersByTimeAsync(2_000);
    await closing;
  } finally {
    vi.useRealTimers();
  }
  expect(await session.client.closed).toEqual({ code: 1006, reason: 'the hub did not answer the close' });
});

test('frames that are no JSON objects, and unknown actions, are ignored', async () => {
  await using session = await LoggedIn.start();
  for (const frame of ['', '{', 'null', '5', '[]', '{"action":"moon"}', '{"action":7}', '{"nonce":5}']) {
    session.hub.socket.send(frame);
  }
  session.hub.socket.send(Buffer.from('{"action":"remote-call"}'));
  session.hub.send({ action: 'remote-call', requestId: 5, function: 'f', args: {} });
  session.hub.send({ action: 'remote-call', requestId: 'x#0', function: 'f', args: [] });

  await session.settled();
});

test('no timer or socket is left after the close', async () => {
  // the clock counts the timers of this test alone: the test runner has its own
  using _clock = fakeClock();
  const sockets = (): number =>
    process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
  await using hub = await ScriptedHub.start();
  const before = { timers: vi.getTimerCount(), sockets: sockets() };
  const connecting = connect(hub.url, { token: 'secret' });
  await hub.answer(authenticated);
  const client = await connecting;
  const calls = Array.from({ length: 50 }, async () => client.call('x', 'f').catch(() => undefined));
  expect(vi.getTimerCount()).toBeGreaterThanOrEqual(before.timers + 50);
  await client.close();
  await Promise.all(calls);

  await eventually(() => vi.getTimerCount() === before.timers, 'no timer is left');
  await eventually(() => sockets() === before.sockets, 'no socket is left');
});

test('K160: a socket with nothing but the standard serves as well', async () => {
  await using hub = await ScriptedHub.start();
  const connecting = connect(hub.url, { token: 'secret', WebSocket: PageSocket });
  await hub.answer(authenticated);
  const client = await connecting;
  const calling = client.call('x', 'f');
  await hub.answer({ result: 1 });
  expect(await calling).toBe(1);
  await client.close(4001, 'done');

  expect(await client.closed).toEqual({ code: 4001, reason: 'done' });
});

test('K160: such a socket that gets no answer is given up as well', async () => {
  await using hub = await ScriptedHub.start();

  await expect(
    connect(hub.url, { token: 'secret', WebSocket: PageSocket, connectTimeoutMs: 50 }),
  ).rejects.toMatchObject({ code: 'connection-lost', reason: 'the hub did not answer within 50 ms' });
});

test('await using closes the session', async () => {
  await using hub = await ScriptedHub.start();
  const connecting = connect(hub.url, { token: 'secret' });
  await hub.answer(authenticated);
  {
    await using client = await connecting;
    expect(client.isOpen).toBe(true);
  }
  expect((await connecting).isOpen).toBe(false);
});

test('K160: a session that a listener closes as its connection is lost leaves no timer', async () => {
  await using session = await LoggedIn.start(authenticated, { reconnect: {} });
  using clock = fakeClock();
  session.client.on('state', ({ state }) => {
    if (state === 'reconnecting') void session.client.close();
  });
  session.hub.socket.terminate();
  await session.client.closed;
  await eventually(() => vi.getTimerCount() === 0, 'the end of every timer');
  await clock.advance(60_000);
  expect(session.client.state).toBe('closed');
});
