import { once } from 'node:events';
import { connect, type Hub } from '@remotes-hub/client';
import { hashPassword } from '@remotes-hub/server';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { startTestHub, type TestHub } from '../support/hub.js';

/** The client at a real hub; what it does with odd hubs is tested against scripted ones. */
async function connectTo(hub: TestHub, user = 'u1'): Promise<Hub> {
  return connect(hub.url, { token: await hub.token(user) });
}

const echo = { echo: { handler: (args: object) => args } };

test('SDK-01: a token and a username with password log in alike, and a wrong one is refused with its code', async () => {
  const users = [{ username: 'ada', passwordHash: await hashPassword('correct horse') }];
  await using hub = await startTestHub({ auth: { users } });

  await using byPassword = await connect(hub.url, { username: 'ada', password: 'correct horse' });
  await using byToken = await connectTo(hub, 'ada');

  expect([byPassword.userId, byToken.userId]).toEqual(['ada', 'ada']);
  await byPassword.serve('x', echo);
  expect(await byToken.call('x', 'echo', { n: 1 })).toEqual({ n: 1 });
  await expect(connect(hub.url, { username: 'ada', password: 'wrong' })).rejects.toMatchObject({
    name: 'HubError',
    code: 'invalid-credentials',
  });
});

test('SDK-02: an event reaches every session of the user, and none of another', async () => {
  await using hub = await startTestHub();
  await using serving = await connectTo(hub);
  await using listening = await connectTo(hub);
  await using stranger = await connectTo(hub, 'u2');
  const seen: string[] = [];
  listening.on('remote-connected', ({ remotename }) => seen.push(`connected ${remotename}`));
  listening.on('remote-disconnected', ({ remotename }) => seen.push(`disconnected ${remotename}`));
  stranger.on('remote-connected', () => seen.push('a stranger was told'));

  const remote = await serving.serve('x', echo);
  await remote.disconnect();
  await listening.ping();
  await stranger.ping();

  expect(seen).toEqual(['connected x', 'disconnected x']);
});

test('SDK-09: lint tells how the functions of a remote reach models', async () => {
  await using hub = await startTestHub();
  await using session = await connectTo(hub);
  await session.serve('x', { über: { description: 'Over.', handler: () => null } });

  const { functions } = await session.lint('x');
  expect(functions).toMatchObject([
    { name: 'über', providers: { anthropic: { status: 'mapped', name: '_ber_b51c8541' } } },
  ]);
  const prefixed = await session.lint('x', { prefix: 'p_' });
  expect(prefixed.functions[0]?.providers.anthropic.name).toMatch(/^p__ber_[0-9a-f]{8}$/u);
  await expect(session.lint('y')).rejects.toMatchObject({ code: 'remote-not-connected' });
  await expect(session.lint('x', { prefix: 'p'.repeat(129) })).rejects.toThrow(RangeError);
});

test('K043: a served function calls its own session and another through the hub before it answers', async () => {
  await using hub = await startTestHub();
  await using a = await connectTo(hub);
  await using b = await connectTo(hub);
  await b.serve('y', { h: { handler: () => 'h' } });
  await a.serve('x', {
    g: { handler: () => 'g' },
    f: { handler: async () => [await a.call('x', 'g'), await a.call('y', 'h')] },
  });

  expect(await b.call('x', 'f')).toEqual(['g', 'h']);
});

test('K048 SDK-06: a result above the frame limit fails its call, and the session serves on', async () => {
  await using hub = await startTestHub({ limits: { maxMessageBytes: 4_096 } });
  await using serving = await connectTo(hub);
  await using caller = await connectTo(hub);
  await serving.serve('x', { dump: { handler: () => 'x'.repeat(5_000) } });
  await serving.serve('z', echo);

  await expect(caller.call('x', 'dump')).rejects.toMatchObject({
    code: 'function-failed',
    message: expect.stringMatching(/bytes, the hub takes at most 4096/u) as unknown,
  });
  expect(await caller.call('z', 'echo', { still: 'here' })).toEqual({ still: 'here' });
});

test('SDK-04: cancelling a call aborts the signal of its handler, wherever it runs', async () => {
  await using hub = await startTestHub();
  await using serving = await connectTo(hub);
  await using caller = await connectTo(hub);
  let started: (signal: AbortSignal) => void;
  const running = new Promise<AbortSignal>((resolve) => {
    started = resolve;
  });
  await serving.serve('x', {
    wait: {
      handler: async (_args, { signal }) => {
        started(signal);
        await once(signal, 'abort');
      },
    },
  });
  const abort = new AbortController();

  const call = caller.call('x', 'wait', {}, { signal: abort.signal });
  const signal = await running;
  abort.abort();

  await expect(call).rejects.toMatchObject({ code: 'call-cancelled' });
  if (!signal.aborted) await once(signal, 'abort');
  await hub.idle(2);
});

test('SDK-04: progress reaches the caller in order, before the result', async () => {
  await using hub = await startTestHub();
  await using serving = await connectTo(hub);
  await using caller = await connectTo(hub);
  await serving.serve('x', {
    count: {
      handler: (_args, { progress }) => {
        for (let step = 1; step <= 3; step += 1) progress({ step });
        return 'done';
      },
    },
  });
  const seen: unknown[] = [];

  expect(await caller.call('x', 'count', {}, { onProgress: (value) => seen.push(value) })).toBe('done');
  expect(seen).toEqual([{ step: 1 }, { step: 2 }, { step: 3 }]);
});

test('SDK-05: calls fail with connection-lost when the hub goes away, and with remote-disconnected when the remote does', async () => {
  await using hub = await startTestHub();
  await using serving = await connectTo(hub);
  await using caller = await connect(hub.url, { token: await hub.token(), reconnect: false });
  await serving.serve('x', { hang: { handler: async () => new Promise(() => undefined) } });

  const call = caller.call('x', 'hang');
  await caller.ping();
  await serving.close();

  await expect(call).rejects.toMatchObject({
    code: 'remote-disconnected',
    executed: 'unknown',
    retryable: false,
  });
  await hub.hub.close();
  expect(await caller.closed).toMatchObject({ code: 1001 });
  await expect(caller.call('x', 'hang')).rejects.toMatchObject({ code: 'connection-lost', executed: 'no' });
});

test('SDK-03: list shows what was served, with the JSON Schema of a schema library', async () => {
  await using hub = await startTestHub();
  await using serving = await connectTo(hub);
  await serving.serve('x', {
    add: {
      description: 'Adds.',
      parameters: z.object({ a: z.number(), b: z.number() }),
      handler: ({ a, b }) => a + b,
    },
  });

  const [remote] = await serving.list();
  expect(remote).toMatchObject({
    remotename: 'x',
    tools: [{ name: 'add', description: 'Adds.', parameters: { type: 'object', required: ['a', 'b'] } }],
  });
  expect(await serving.call('x', 'add', { a: 1, b: 2 })).toBe(3);
  await expect(serving.call('x', 'add', { a: 1, b: 'two' })).rejects.toMatchObject({
    code: 'invalid-arguments',
  });
});
