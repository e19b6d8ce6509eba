import type { HostCallContext } from '@remotes-hub/server';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { startTestHub } from '../../support/hub.js';
import { call, serve } from './host-fixtures.js';

const failed = { code: 'function-failed', executed: 'yes', retryable: false };
const circular: Record<string, unknown> = {};
circular['self'] = circular;

test.each<[string, unknown, unknown]>([
  ['undefined', undefined, null],
  ['null', null, null],
  ['0', 0, 0],
  ['an empty string', '', ''],
  ['false', false, false],
  ['NaN', Number.NaN, null],
  ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
  ['a map', new Map([[1, 2]]), {}],
  ['a promise', Promise.resolve([1]), [1]],
  ['an object with toJSON', { toJSON: () => 'json' }, 'json'],
])('K040: a host function that returns %s', async (_what, value, result) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  serve(hub, { f: () => value });
  expect(await session.call('host', 'f')).toMatchObject({ result });
});

test.each<[string, unknown, RegExp]>([
  ['a big integer', 1n, /^the result is no JSON: .*BigInt/u],
  ['a circular object', circular, /^the result is no JSON: .*circular/u],
  ['a function', () => 1, /^the result is no JSON: a function$/u],
  ['a symbol', Symbol('s'), /^the result is no JSON: a symbol$/u],
  [
    'an object whose toJSON throws',
    { toJSON: () => JSON.parse('{') as unknown },
    /^the result is no JSON: /u,
  ],
])('K040: a host function that returns %s fails its call and names the cause', async (_what, value, text) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  serve(hub, { f: () => value });
  const reply = await session.call('host', 'f');
  expect(reply).toMatchObject(failed);
  expect(reply['error']).toMatch(text);
  expect(await session.call('host', 'f')).toMatchObject(failed); // and the hub lives on
});

class UnreadableError extends Error {
  override get message(): string {
    return JSON.parse('{') as string;
  }
}

const blank = 'the function failed without a message';
const withCause = new Error('boom', { cause: circular });
const revoked = Proxy.revocable({}, {});
revoked.revoke();

test.each<[string, unknown, string]>([
  ['an error', new Error('boom'), 'boom'],
  ['a text', 'text', 'text'],
  ['undefined', undefined, blank],
  ['null', null, 'null'],
  ['an object', { code: 7 }, '{"code":7}'],
  ['an object with a message', { message: 'told', stack: 'secret' }, 'told'],
  ['an error with a circular cause', withCause, 'boom'],
  ['an error without a text', new Error(''), blank],
  ['an error whose message cannot be read', new UnreadableError(), blank],
  ['an error whose message is undefined', Object.assign(new Error('x'), { message: undefined }), blank],
  ['an error whose message is circular', Object.assign(new Error('x'), { message: circular }), blank],
  ['a big integer', 1n, blank],
  ['a symbol', Symbol('s'), blank],
  ['a revoked proxy', revoked.proxy, blank],
  ['a long text', 'x'.repeat(5_000), 'x'.repeat(4_096)],
])('K041: a host function that throws %s', async (_what, thrown, error) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const thrower = (): never => {
    throw thrown;
  };
  serve(hub, { sync: thrower, async: async () => Promise.reject(thrown) });

  for (const [n, name] of ['sync', 'async'].entries()) {
    session.send({ action: 'remote-call', nonce: name, body: { remotename: 'host', function: name } });
    const requestId = `host#${n}`;
    expect(await session.reply(name)).toEqual({ error, ...failed, requestId, nonce: name });
  }
  expect(hub.hub.counts().pendingCalls).toBe(0);
});

test('K041: a failure of a nested call is the function’s own failure, whose function has run', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  serve(hub, { nests: async () => hub.hub.call({ userId: 'u1', remotename: 'nobody', function: 'f' }) });

  expect(await session.call('host', 'nests')).toMatchObject({
    ...failed,
    error: "no connected remote named 'nobody'",
  });
});

test('LIB-03: a handler gets its own arguments, its id, its time and a signal, and may report progress', async () => {
  await using hub = await startTestHub();
  const caller = await hub.connect({ v1: true });
  const contexts: HostCallContext[] = [];
  serve(hub, {
    f: (args, context) => {
      contexts.push(context);
      context.progress({ half: true });
      context.progress(undefined);
      return Object.hasOwn(args, '__proto__');
    },
  });

  caller.send(
    '{"action":"remote-call","nonce":"c","body":{"remotename":"host","function":"f","args":{"__proto__":1},"timeoutMs":77}}',
  );
  expect(await caller.reply('c')).toEqual({ result: true, nonce: 'c' });
  expect(caller.others).toEqual([
    { action: 'remote-call-progress', nonce: 'c', progress: { half: true } },
    { action: 'remote-call-progress', nonce: 'c', progress: null },
  ]);
  expect(contexts).toMatchObject([{ requestId: 'host#0', timeoutMs: 77 }]);
  expect(contexts[0]?.signal.aborted).toBe(false);
  contexts[0]?.progress('after the end');
  await caller.settle();
  expect(caller.others).toHaveLength(2);
});

test('LIB-03: the signal of a handler fires at every early end, and says why', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const signals: AbortSignal[] = [];
  const hang = async (_args: object, { signal }: HostCallContext): Promise<string> => {
    signals.push(signal);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve('too late')));
  };
  const connection = serve(hub, { hang });
  const [caller, other] = [await hub.connect(), await hub.connect()];
  const start = async (nonce: string): Promise<void> => {
    const before = signals.length;
    caller.send({ action: 'remote-call', nonce, body: { remotename: 'host', function: 'hang' } });
    await eventually(() => signals.length > before, 'the handler runs');
  };

  await start('a');
  await clock.advance(30_000);
  expect(await caller.reply('a')).toMatchObject({ code: 'call-timeout' });
  await start('b');
  await caller.request('remote-call-cancel', { nonce: 'b' });
  expect(await caller.reply('b')).toMatchObject({ code: 'call-cancelled' });
  await start('c');
  await caller.close();
  await hub.idle(1);
  const own = new AbortController();
  const cancelled = call(hub, 'hang', { signal: own.signal });
  await eventually(() => signals.length === 4, 'the handler runs');
  own.abort();
  await expect(cancelled).rejects.toMatchObject({ code: 'call-cancelled', executed: 'unknown' });
  const cut = call(hub, 'hang').catch((error: unknown) => error);
  await eventually(() => signals.length === 5, 'the handler runs');
  await other.request('remote-disconnect', { remotename: 'host' });
  expect(await cut).toMatchObject({ code: 'remote-disconnected', executed: 'unknown' });
  connection.disconnect();

  expect(signals.map(({ reason }) => reason as unknown)).toEqual([
    'call-timeout',
    'call-cancelled',
    'caller-gone',
    'call-cancelled',
    'remote-disconnected',
  ]);
  expect(hub.hub.counts()).toMatchObject({ remotes: 0, providers: 0, pendingCalls: 0 });
});
