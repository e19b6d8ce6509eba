import { connect, type Hub, type RemoteError } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { startTestHub, type TestHub } from '../support/hub.js';
import { ScriptedHub, authenticated } from './scripted-hub.js';

const quick = { delayMs: 5, maxDelayMs: 20 };

/** A remote `x` behind a proxy whose `f` ends when the test says so, and a caller with a connection of its own. */
async function startServing(hub: TestHub, resumeMs: number) {
  const proxy = await FaultProxy.start(hub.url);
  const serving = await connect(proxy.url, { token: await hub.token(), reconnect: quick });
  const caller = await connect(hub.url, { token: await hub.token() });
  const calls: { signal: AbortSignal; finish: (value: string) => void }[] = [];
  const handler = async (_args: object, { signal }: { signal: AbortSignal }): Promise<string> =>
    new Promise((finish) => calls.push({ signal, finish }));
  await serving.serve('x', { f: { handler } }, { resumeMs });
  return {
    proxy,
    serving,
    caller,
    calls,
    [Symbol.asyncDispose]: async () => {
      await serving.close();
      await caller.close();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

const isLost = (client: Hub) => eventually(() => client.state === 'reconnecting', 'the loss is seen');
const isBack = (client: Hub) => eventually(() => client.isOpen, 'the connection is open');

test('SDK-17: an answer that was ready without a connection is given with the next one, once', async () => {
  await using hub = await startTestHub();
  await using world = await startServing(hub, 10_000);
  const call = world.caller.call('x', 'f');
  await eventually(() => world.calls.length === 1, 'the call is under way');
  world.proxy.isDown = true;
  world.proxy.cut();
  await isLost(world.serving);
  expect(world.calls[0]?.signal.aborted).toBe(false);
  world.calls[0]?.finish('late');
  world.proxy.isDown = false;

  expect(await call).toBe('late');
  expect(world.calls).toHaveLength(1);
  await hub.idle(2);
});

test('SDK-17: a call that goes on over a reconnect is answered after it, and so are new ones', async () => {
  await using hub = await startTestHub();
  await using world = await startServing(hub, 10_000);
  const first = world.caller.call('x', 'f');
  await eventually(() => world.calls.length === 1, 'the call is under way');
  world.proxy.isDown = true;
  world.proxy.cut();
  await isLost(world.serving);
  world.proxy.isDown = false;
  await isBack(world.serving);
  await eventually(() => hub.hub.counts().remotes === 1, 'the remote is served again');
  const second = world.caller.call('x', 'f');
  await eventually(() => world.calls.length === 2, 'the second call is under way');
  world.calls[1]?.finish('second');
  world.calls[0]?.finish('first');

  expect(await Promise.all([first, second])).toEqual(['first', 'second']);
});

test('SDK-17: a client that does not come back in time fails the call, and its handler is told', async () => {
  await using hub = await startTestHub();
  await using world = await startServing(hub, 50);
  const call = world.caller.call('x', 'f').catch((error: RemoteError) => error);
  await eventually(() => world.calls.length === 1, 'the call is under way');
  world.proxy.isDown = true;
  world.proxy.cut();

  expect(await call).toMatchObject({ code: 'remote-disconnected', executed: 'unknown' });
  await eventually(() => world.calls[0]?.signal.aborted === true, 'the handler is told');
  expect(world.calls[0]?.signal.reason).toMatchObject({ code: 'connection-lost', function: 'f' });
});

test('SDK-17: without resumeMs a call fails at the loss', async () => {
  await using hub = await startTestHub();
  await using world = await startServing(hub, 0);
  const call = world.caller.call('x', 'f').catch((error: RemoteError) => error);
  await eventually(() => world.calls.length === 1, 'the call is under way');
  world.proxy.cut();

  expect(await call).toMatchObject({ code: 'remote-disconnected', executed: 'unknown' });
  await eventually(() => world.calls[0]?.signal.aborted === true, 'the handler is told');
});

test('SDK-17: a hub that knows nothing of the call gets no answer to it, and its new calls run', async () => {
  await using hub = await ScriptedHub.start();
  const connecting = connect(hub.url, { token: 't', reconnect: quick });
  await hub.answer(authenticated);
  await using client = await connecting;
  const signals: AbortSignal[] = [];
  const finish: ((value: string) => void)[] = [];
  const serving = client.serve(
    'x',
    {
      f: {
        handler: async (_args, { signal }) => (
          signals.push(signal),
          new Promise((done) => finish.push(done))
        ),
      },
    },
    { resumeMs: 10_000 },
  );
  expect(await hub.answer({ message: 'remote connected', remotename: 'x' })).toMatchObject({
    body: { remotename: 'x', resumeMs: 10_000 },
  });
  await serving;
  hub.send({ action: 'remote-call', requestId: 'x#0', function: 'f', args: {} });
  await eventually(() => finish.length === 1, 'the call is under way');
  hub.socket.terminate();
  await hub.answer(authenticated); // without `resumed`: another hub
  expect(await hub.answer({ message: 'remote connected', remotename: 'x' })).toMatchObject({
    action: 'remote-connect',
  });
  expect(signals[0]?.reason).toMatchObject({ message: 'the hub no longer waits for this call' });

  hub.send({ action: 'remote-call', requestId: 'x#0', function: 'f', args: {} }); // its first
  await eventually(() => finish.length === 2, 'the new call is under way');
  finish[0]?.('old');
  finish[1]?.('new');
  expect(await hub.next()).toEqual({ action: 'remote-call-result', requestId: 'x#0', result: 'new' });
  expect(hub.untaken).toEqual([]);
});

test('SDK-18: a failed call tells the id that the hub gave it', async () => {
  await using hub = await startTestHub();
  await using world = await startServing(hub, 0);
  const call = world.caller.call('x', 'f', {}, { timeoutMs: 20 });
  await expect(call).rejects.toMatchObject({
    code: 'call-timeout',
    requestId: 'x#0',
    remotename: 'x',
    function: 'f',
  });
  await expect(world.caller.call('x', 'g')).rejects.toMatchObject({ requestId: undefined });
});
