import { expect, test } from 'vitest';
import { LoggedIn, authenticated } from './scripted-hub.js';

function throwing(): never {
  throw new Error('no JSON today');
}

const circular: Record<string, unknown> = {};
circular['self'] = circular;

test.each<[string, unknown, unknown]>([
  ['undefined', undefined, null],
  ['NaN', Number.NaN, null],
  ['a Date', new Date(0), '1970-01-01T00:00:00.000Z'],
  ['a Buffer', Buffer.from('a'), { type: 'Buffer', data: [97] }],
  ['an undefined member', { a: 1, b: undefined }, { a: 1 }],
  ['a __proto__ key', JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')],
  ['0', 0, 0],
  ['the empty string', '', ''],
  ['false', false, false],
  ['null', null, null],
  ['an empty list', [], []],
])('K040: a function that returns %s', async (_title, value, result) => {
  await using session = await LoggedIn.start();
  await session.serve({ f: { handler: async () => value } });

  expect(await session.hub.call('x#0', 'f')).toEqual({
    action: 'remote-call-result',
    requestId: 'x#0',
    result,
  });
});

test.each<[string, unknown, string]>([
  ['a big integer', 1n, 'it is a big integer'],
  ['a nested big integer', { total: [1n] }, '"0" is a big integer'],
  ['a circular object', circular, 'it is circular'],
  ['a function', () => 1, 'it is a function'],
  ['a nested function', { f: () => 1 }, '"f" is a function'],
  ['a symbol', Symbol('s'), 'it is a symbol'],
  ['a Map', new Map([[1, 2]]), 'it is a Map'],
  ['a nested Set', { tags: new Set() }, '"tags" is a Set'],
  ['a nested Promise', { a: Promise.resolve(1) }, '"a" is a Promise (await it first)'],
  ['an Error', new Error('boom'), 'it is an Error'],
  ['binary data', new Uint8Array(2), 'it is binary data'],
  ['a member that throws', { toJSON: throwing }, 'no JSON today'],
])('K040: a function that returns %s is answered with an error at once', async (_title, value, why) => {
  await using session = await LoggedIn.start();
  await session.serve({ f: { handler: () => value }, g: { handler: () => 'alive' } });

  const answer = await session.hub.call('x#0', 'f');
  expect(answer).toMatchObject({ requestId: 'x#0', executed: 'yes' });
  expect(answer['error']).toContain(`the result cannot be sent as JSON: ${why}`);
  expect(answer).not.toHaveProperty('result');
  expect(await session.hub.call('x#1', 'g')).toMatchObject({ result: 'alive' });
});

const causeOfItself: Error = new Error('with a cause');
causeOfItself.cause = causeOfItself;
const NO_MESSAGE = 'the function failed without a message';

test.each<[string, unknown, string]>([
  ['an Error', new Error('boom'), 'boom'],
  ['a string', 'text', 'text'],
  ['undefined', undefined, NO_MESSAGE],
  ['null', null, NO_MESSAGE],
  ['the empty string', '', NO_MESSAGE],
  ['an Error without a message', new Error(''), NO_MESSAGE],
  ['a number', 7, '7'],
  ['a symbol', Symbol('s'), 'Symbol(s)'],
  ['an object', { code: 7 }, '{"code":7}'],
  ['an object with a message', { message: 'boom' }, 'boom'],
  ['a circular object', circular, NO_MESSAGE],
  ['an error with a circular cause', causeOfItself, 'with a cause'],
  [
    'an object whose message getter throws',
    {
      get message(): string {
        throw new Error('gotcha');
      },
    },
    NO_MESSAGE,
  ],
  ['a message with a stack in it', new Error('boom\n    at f (/home/ada/app.js:1:1)'), 'boom'],
  ['a long message', new Error('x'.repeat(5_000)), 'x'.repeat(4_096)],
])('K041: a function that throws %s', async (_title, thrown, error) => {
  await using session = await LoggedIn.start();
  await session.serve({
    f: {
      handler: () => {
        throw thrown;
      },
    },
  });

  expect(await session.hub.call('x#0', 'f')).toEqual({
    action: 'remote-call-result',
    requestId: 'x#0',
    error,
    executed: 'yes',
  });
});

test('K048: a result above the limit of the hub is an error reply, and the session goes on', async () => {
  await using session = await LoggedIn.start(); // takes 10 000 bytes
  let release: (value: string) => void = () => undefined;
  const slow = new Promise<string>((resolve) => {
    release = resolve;
  });
  await session.serve({ dump: { handler: () => 'é'.repeat(6_000) }, slow: { handler: async () => slow } });
  session.hub.send({ action: 'remote-call', requestId: 'x#0', function: 'slow', args: {} });

  expect(await session.hub.call('x#1', 'dump')).toMatchObject({
    requestId: 'x#1',
    error: 'the result is 12061 bytes, the hub takes at most 10000',
    executed: 'yes',
  });
  release('still here');
  expect(await session.hub.next()).toMatchObject({ requestId: 'x#0', result: 'still here' });
});

test('an error text that is too long for the hub is cut', async () => {
  await using session = await LoggedIn.start({ ...authenticated, maxMessageBytes: 1_000 });
  await session.serve({
    f: {
      handler: () => {
        throw new Error('é'.repeat(4_000));
      },
    },
  });

  expect(await session.hub.call('x#0', 'f')).toMatchObject({ error: 'é'.repeat(100), executed: 'yes' });
});

/** `[[[…]]]`, so many levels. */
function nested(levels: number): unknown[] {
  let value: unknown[] = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value;
}

test('a result nested deeper than 128 levels with its message is an error reply', async () => {
  await using session = await LoggedIn.start();
  await session.serve({
    fits: { handler: () => nested(127) },
    deep: { handler: () => nested(128) },
    abyss: { handler: () => nested(100_000) },
  });

  expect(await session.hub.call('x#0', 'fits')).toHaveProperty('result');
  expect(await session.hub.call('x#1', 'deep')).toMatchObject({
    error: 'the result is nested 129 levels deep with its message, the hub takes at most 128',
    executed: 'yes',
  });
  expect(await session.hub.call('x#2', 'abyss')).toMatchObject({ error: 'the result is nested too deeply' });
});

test('K040: an error whose text has very many lines is answered at once', async () => {
  await using session = await LoggedIn.start({ ...authenticated, maxMessageBytes: 4_000_000 });
  const text = `a${'\n'.repeat(100_000)}b`;
  await session.serve({
    f: {
      handler: () => {
        throw new Error(text);
      },
    },
  });
  const start = performance.now();
  expect(await session.hub.call('x#0', 'f')).toMatchObject({ error: 'a', executed: 'yes' });
  expect(performance.now() - start).toBeLessThan(1_000);
});
