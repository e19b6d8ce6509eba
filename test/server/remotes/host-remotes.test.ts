import { RemoteError, type HostFunction } from '@remotes-hub/server';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { startTestHub } from '../../support/hub.js';
import { call, serve } from './host-fixtures.js';

const failed = { code: 'function-failed', executed: 'yes', retryable: false };

test('LIB-03: a session calls a function of the host program, and the host program one of a session', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  serve(hub, { add: ({ a, b }) => Number(a) + Number(b) });
  await session.serve('page', ['title']);

  expect(await session.event('remote-connected')).toMatchObject({ body: { remotename: 'host' } });
  expect(await session.call('host', 'add', { a: 1, b: 2 })).toMatchObject({ result: 3 });
  const title = hub.hub.call({ userId: 'u1', remotename: 'page', function: 'title', args: { of: 'x' } });
  expect(await session.answer('Home')).toMatchObject({ requestId: 'page#0', args: { of: 'x' } });
  expect(await title).toBe('Home');
  expect(hub.hub.counts().pendingCalls).toBe(0);
});

test('LIB-03: remotes of host and sessions stand in one list, in order of connection, each with its tools', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const f = { name: 'f', description: 'does f', parameters: { type: 'object' }, verb: 'get', own: [1] };
  await session.request('remote-connect', { remotename: 'z', tools: [f] });
  hub.hub.connectRemote({
    userId: 'u1',
    remotename: 'a',
    functions: [{ ...f, verb: 'get', handler: () => 1 }],
  });
  hub.hub.connectRemote({ userId: 'u2', remotename: 'other', functions: [] });

  const list = (await session.request('remote-list'))['remotes'];
  expect(list).toEqual([
    { remotename: 'z', tools: [f] },
    { remotename: 'a', tools: [f] },
  ]);
  expect(await hub.hub.listRemotes('u1')).toEqual(list);
  expect(await hub.hub.listRemotes('nobody')).toEqual([]);
});

test('LIB-03: a name is taken for host and sessions alike, and free after a disconnect', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const taken = { code: 'remote-already-connected', message: "remote 'x' is already connected" };

  const first = serve(hub, { f: () => 1 }, 'x');
  expect(() => serve(hub, {}, 'x')).toThrow(expect.objectContaining(taken));
  expect(await session.serve('x', ['f'])).toMatchObject({ code: taken.code, error: taken.message });
  await session.request('remote-disconnect', { remotename: 'x' });
  expect(await session.serve('x', ['f'])).toMatchObject({ message: 'remote connected' });
  expect(() => serve(hub, {}, 'x')).toThrow(expect.objectContaining(taken));
  first.disconnect(); // ended long ago: the session keeps the name
  first[Symbol.dispose]();
  expect(await session.remotes()).toEqual(['x']);
  await session.close();
  await hub.idle();
  using again = serve(hub, {}, 'x');
  expect(again.remotename).toBe('x');
});

test('LIB-03: host functions and names that do not fit are refused, and nothing is stored', async () => {
  await using hub = await startTestHub();
  const connect = (remotename: string, functions: readonly HostFunction[]) => () =>
    hub.hub.connectRemote({ userId: 'u1', remotename, functions });
  const f = { name: 'f', handler: () => 1 };

  expect(connect('', [f])).toThrow(TypeError);
  expect(connect('x'.repeat(129), [f])).toThrow(TypeError);
  expect(connect('x', [f, f])).toThrow("functions: function 'f' is listed twice");
  expect(connect('x', [{ ...f, name: '' }])).toThrow(TypeError);
  expect(connect('x', [Object.assign({ ...f }, { handler: undefined })])).toThrow(TypeError);
  expect(connect('x', [{ ...f, parameters: { type: 'string' } }])).toThrow(
    expect.objectContaining({ code: 'invalid-schema' }),
  );
  expect(await hub.hub.listRemotes('u1')).toEqual([]);
  expect(hub.hub.counts()).toMatchObject({ remotes: 0, providers: 0 });
});

test('LIB-03: with drain a host remote finishes its calls', async () => {
  await using hub = await startTestHub();
  let finish: (value: string) => void = () => undefined;
  const connection = serve(hub, { f: async () => new Promise<string>((resolve) => (finish = resolve)) });
  const result = call(hub, 'f');
  await eventually(() => hub.hub.counts().pendingCalls === 1, 'the call is forwarded');
  await Promise.resolve();

  connection.disconnect({ drain: true });
  expect(await hub.hub.listRemotes('u1')).toEqual([]);
  finish('finished');
  expect(await result).toBe('finished');
  expect(hub.hub.counts()).toMatchObject({ providers: 0, pendingCalls: 0 });
});

test('LIB-03: a call of the host program fails with code, executed and retryable, and misuse is a TypeError', async () => {
  await using hub = await startTestHub();
  serve(hub, { f: () => 1 });
  const aborted = AbortSignal.abort();

  await expect(call(hub, 'g')).rejects.toBeInstanceOf(RemoteError);
  await expect(call(hub, 'g')).rejects.toMatchObject({ code: 'function-not-found', executed: 'no' });
  await expect(call(hub, 'f', { signal: aborted })).rejects.toMatchObject({
    code: 'call-cancelled',
    executed: 'no',
  });
  for (const args of [[], null, 5, 'x', new Date(0), { n: 1n }]) {
    await expect(call(hub, 'f', { args })).rejects.toBeInstanceOf(TypeError);
  }
  for (const timeoutMs of [0, -1, Number.NaN, 1.5, 600_001, '5']) {
    await expect(call(hub, 'f', { timeoutMs })).rejects.toBeInstanceOf(TypeError);
  }
  expect(hub.hub.counts().pendingCalls).toBe(0);
});

test('LIB-03: progress reaches the host program, and a listener that throws ends its own call alone', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect({ v1: true });
  await server.serve('host', ['f']);
  const seen: unknown[] = [];
  const progress = (n: number): object => ({
    action: 'remote-call-progress',
    requestId: `host#${n}`,
    progress: { n },
  });

  const good = call(hub, 'f', { onProgress: (value: unknown) => seen.push(value) });
  const bad = call(hub, 'f', {
    onProgress: () => {
      throw new Error('my own fault');
    },
  });
  for (let n = 0; n < 2; n += 1) await server.next('remote-call');
  server.send(progress(0));
  server.send(progress(1));
  await expect(bad).rejects.toThrow('my own fault');
  expect(await server.next()).toMatchObject({ action: 'remote-call-cancel', requestId: 'host#1' });
  server.send({ action: 'remote-call-result', requestId: 'host#0', result: 'fine' });
  expect(await good).toBe('fine');
  await server.settle();
  expect(seen).toEqual([{ n: 0 }]);
  expect([...server.replies, ...server.others]).toEqual([]); // progress is never answered
});

test('LIB-03: what the host program sends and returns keeps to the bounds of the wire', async () => {
  await using hub = await startTestHub({ limits: { maxMessageBytes: 65_536, maxQueuedBytes: 1_048_576 } });
  const session = await hub.connect();
  await session.serve('page', ['f']);
  const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
  serve(hub, { long: () => 'x'.repeat(65_536), deep: () => nested(128), fits: () => nested(127) });

  expect(await session.call('host', 'long')).toMatchObject({
    error: 'the result is 65538 bytes long, a message holds 65536',
    ...failed,
  });
  expect(await session.call('host', 'deep')).toMatchObject({ code: 'invalid-result', executed: 'yes' });
  expect(await session.call('host', 'fits')).toHaveProperty('result');
  const page = { userId: 'u1', remotename: 'page', function: 'f' };
  await expect(hub.hub.call({ ...page, args: { text: 'x'.repeat(65_536) } })).rejects.toMatchObject({
    code: 'message-too-large',
    executed: 'no',
  });
  await session.settle();
  expect(session.others).toEqual([]);
});

test('LIB-03: a hub that has closed refuses to connect and to call', async () => {
  await using hub = await startTestHub();
  await hub.hub.close();
  expect(() => serve(hub, {})).toThrow(expect.objectContaining({ code: 'shutting-down' }));
  await expect(call(hub, 'f')).rejects.toMatchObject({
    code: 'shutting-down',
    executed: 'no',
    retryable: true,
  });
});
