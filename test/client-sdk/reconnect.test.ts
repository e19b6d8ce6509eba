import { connect, type Close, type ConnectionOptions, type Hub, type StateChange } from '@remotes-hub/client';
import { expect, test, vi } from 'vitest';
import { fakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { startTestHub, type TestHub } from '../support/hub.js';

/** Comes back within a blink. */
const quick = { delayMs: 5, maxDelayMs: 20 };

/** A hub behind a proxy. */
async function startNetwork() {
  const agents = [{ id: 'assistant', name: 'A', model: { provider: 'offline' } }] as const;
  const hub = await startTestHub({ agents: [...agents] });
  const proxy = await FaultProxy.start(hub.url);
  const connectThrough = async (options: ConnectionOptions = {}): Promise<Hub> =>
    connect(proxy.url, { token: await hub.token(), reconnect: quick, ...options });
  return {
    hub,
    proxy,
    connectThrough,
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]();
      await hub[Symbol.asyncDispose]();
    },
  };
}

/** The next loss of a connection: asked for before it, since a client may be back between two looks at its state. */
const nextLoss = async (client: Hub): Promise<Close | undefined> =>
  new Promise((resolve) => {
    client.on('state', ({ state, close }) => state === 'reconnecting' && resolve(close));
  });

const isOpen = (hub: Hub) => eventually(() => hub.isOpen, 'the connection is open');

/** Waits until another session of the user sees these remotes. */
async function serves(hub: TestHub, names: readonly string[]): Promise<void> {
  await using session = await hub.connect();
  for (;;) {
    const { remotes } = (await session.request('remote-list')) as { remotes: { remotename: string }[] };
    if (JSON.stringify(remotes.map(({ remotename }) => remotename)) === JSON.stringify(names)) return;
    await session.event('remote-connected');
  }
}

test('SDK-10: a lost connection is opened anew, and what was served is served again, in its order', async () => {
  await using network = await startNetwork();
  await using client = await network.connectThrough();
  const states: StateChange[] = [];
  client.on('state', (change) => states.push(change));
  const remotes = [];
  for (const name of ['a', 'b', 'c']) remotes.push(await client.serve(name, { f: { handler: () => name } }));
  const { sessionId } = client;

  const loss = nextLoss(client);
  network.proxy.cut();
  await loss;
  expect(remotes.map(({ isConnected }) => isConnected)).toEqual([false, false, false]);
  await isOpen(client);
  await serves(network.hub, ['a', 'b', 'c']);

  expect(await client.call('b', 'f')).toBe('b');
  expect(remotes.map(({ isConnected }) => isConnected)).toEqual([true, true, true]);
  expect(client.sessionId).not.toBe(sessionId);
  expect(states).toMatchObject([
    { state: 'reconnecting', close: { code: 1006 }, attempt: 1, delayMs: expect.any(Number) as number },
    { state: 'open' },
  ]);
});

test('SDK-10: attempts go on while the hub is away, and end with success', async () => {
  await using network = await startNetwork();
  await using client = await network.connectThrough();
  network.proxy.isDown = true;
  network.proxy.cut();
  await eventually(() => network.proxy.attempts > 4, 'some attempts');
  expect(client.state).toBe('reconnecting');
  network.proxy.isDown = false;
  await isOpen(client);
  expect(await client.list()).toEqual([]);
});

test('SDK-05: calls in flight at a loss fail at once, whether they ran is unknown, and handlers are told', async () => {
  await using network = await startNetwork();
  await using caller = await network.connectThrough();
  await using serving = await network.connectThrough();
  const reasons: unknown[] = [];
  let ran = 0;
  await serving.serve('x', {
    hang: {
      handler: async (_args, { signal }) => {
        ran += 1;
        return new Promise(() => signal.addEventListener('abort', () => reasons.push(signal.reason)));
      },
    },
  });
  const call = caller.call('x', 'hang');
  call.catch(() => undefined);
  await eventually(() => ran === 1, 'the call is under way');

  network.proxy.cut();

  await expect(call).rejects.toMatchObject({
    name: 'RemoteError',
    code: 'connection-lost',
    executed: 'unknown',
    retryable: false,
  });
  await eventually(() => reasons.length === 1, 'the handler is told');
  expect(reasons).toMatchObject([{ code: 'connection-lost', remotename: 'x', function: 'hang' }]);
});

test('SDK-10: calls made without a connection wait for the next one, and run once', async () => {
  await using network = await startNetwork();
  await using serving = await connect(network.hub.url, { token: await network.hub.token() });
  await using caller = await network.connectThrough();
  let ran = 0;
  await serving.serve('x', { f: { handler: () => (ran += 1) } });
  const loss = nextLoss(caller);
  network.proxy.isDown = true;
  network.proxy.cut();
  await loss;
  const calls = [caller.call('x', 'f'), caller.call('x', 'f', {}, { timeoutMs: 20_000 })];
  const list = caller.list();
  expect(ran).toBe(0);

  network.proxy.isDown = false;

  expect(await Promise.all(calls)).toEqual([1, 2]);
  expect(await list).toMatchObject([{ remotename: 'x' }]);
  expect(ran).toBe(2);
});

test('SDK-10: a call that waits for a connection fails within its own time, or when it is cancelled, unsent', async () => {
  await using network = await startNetwork();
  await using caller = await network.connectThrough();
  const loss = nextLoss(caller);
  network.proxy.isDown = true;
  network.proxy.cut();
  await loss;
  const controller = new AbortController();
  const cancelled = caller.call('x', 'f', {}, { signal: controller.signal });
  controller.abort();

  await expect(cancelled).rejects.toMatchObject({ code: 'call-cancelled', executed: 'no' });
  await expect(caller.call('x', 'f', {}, { timeoutMs: 30 })).rejects.toMatchObject({
    code: 'connection-lost',
    executed: 'no',
    retryable: true,
    message: 'there is no connection to the hub',
  });
});

test('SDK-11: a name that another session has taken meanwhile is an event, and the others are served', async () => {
  await using network = await startNetwork();
  await using client = await network.connectThrough();
  const failures: unknown[] = [];
  client.on('serve-failed', (failure) => failures.push(failure));
  const taken = await client.serve('taken', { f: { handler: () => 1 } });
  await client.serve('free', { f: { handler: () => 2 } });
  network.proxy.isDown = true;
  network.proxy.cut();
  await network.hub.idle(0);
  await using other = await network.hub.connect();
  await other.serve('taken', ['f']);
  network.proxy.isDown = false;
  await serves(network.hub, ['taken', 'free']);
  await eventually(() => failures.length > 0, 'the failure is told');

  expect(failures).toEqual([
    { remotename: 'taken', code: 'remote-already-connected', message: "remote 'taken' is already connected" },
  ]);
  expect(taken.isConnected).toBe(false);
  await taken.disconnect(); // harmless: it is not ours
  expect(await client.list()).toHaveLength(2);
});

test('SDK-11: a client is not locked out by its own ghost', async () => {
  await using network = await startNetwork();
  await using client = await network.connectThrough();
  await client.serve('x', { f: { handler: () => 'here' } });
  const loss = nextLoss(client);
  network.proxy.halfClose(); // the hub does not learn of it

  await loss;
  await isOpen(client);
  await serves(network.hub, ['x']);
  expect(await client.call('x', 'f')).toBe('here');
  expect(network.hub.hub.counts().sessions).toBe(1);
});

test('SDK-12: a connection that died without a word is found by a ping', async () => {
  await using network = await startNetwork();
  using clock = fakeClock();
  await using client = await network.connectThrough({ livenessMs: 12_000 });
  await client.serve('x', { f: { handler: () => 'here' } });
  network.proxy.stall();
  const loss = nextLoss(client);

  await clock.advance(12_000);
  await clock.advance(10_000);

  expect(await loss).toEqual({ code: 1006, reason: 'the hub gave no sign of life' });
  await clock.advance(1_000);
  vi.useRealTimers();
  await serves(network.hub, ['x']);
});

test('K157: a page whose timers run once a minute stays connected', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  await using client = await connect(hub.url, { token: await hub.token() });
  await client.serve('x', { f: { handler: () => 'here' } });
  const states: StateChange[] = [];
  client.on('state', (change) => states.push(change));
  for (let minute = 0; minute < 10; minute += 1) {
    for (let beat = 0; beat < 4; beat += 1) {
      await clock.advance(15_000); // the hub's heartbeat
      await client.ping();
    }
  }
  expect(await client.call('x', 'f')).toBe('here');
  expect(states).toEqual([]);
});

test('closing while there is no connection ends at once, and leaves no timer', async () => {
  await using network = await startNetwork();
  const client = await network.connectThrough({ reconnect: { delayMs: 60_000 } });
  const loss = nextLoss(client);
  network.proxy.isDown = true;
  network.proxy.cut();
  await loss;
  const waiting = client.call('x', 'f');
  waiting.catch(() => undefined);

  await client.close();

  expect(await client.closed).toEqual({ code: 1000, reason: '' });
  expect(client.state).toBe('closed');
  await expect(waiting).rejects.toMatchObject({ code: 'connection-lost', executed: 'no', retryable: false });
  await expect(client.list()).rejects.toMatchObject({ code: 'connection-lost' });
});

test('K156: connect, close and connect in one go leave one session, which serves', async () => {
  await using hub = await startTestHub();
  const token = await hub.token();
  const first = connect(hub.url, { token });
  const closing = first.then(async (client) => client.close());
  const second = connect(hub.url, { token });
  await using client = await second;
  await client.serve('x', { f: { handler: () => 1 } });
  await closing;

  await hub.idle(1);
  expect(await client.call('x', 'f')).toBe(1);
});

test('a run goes on over a lost connection, without gaps and without doubles', async () => {
  await using network = await startNetwork();
  await using client = await network.connectThrough();
  await using serving = await connect(network.hub.url, { token: await network.hub.token() });
  let finish: (value: string) => void = () => undefined;
  await serving.serve('weather', {
    get_forecast: {
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
      handler: async () => new Promise((resolve) => (finish = resolve)),
    },
  });
  const run = await client.prompt('assistant', 'What is the forecast in "Rome"?', { remotes: ['weather'] });
  const seqs: number[] = [];
  const reading = (async () => {
    for await (const event of run) seqs.push(event.body.seq);
  })();
  await eventually(() => network.hub.hub.counts().pendingCalls === 1, 'the tool is called');
  const loss = nextLoss(client);
  network.proxy.isDown = true;
  network.proxy.cut();
  await loss;
  finish('sunny');
  await eventually(() => network.hub.hub.counts().runs === 0, 'the run has ended meanwhile');
  network.proxy.isDown = false;
  await reading;

  expect(seqs).toEqual(seqs.map((_, index) => index));
  expect(await run.result).toMatchObject({ status: 'completed', usage: { toolCalls: 1 } });
});
