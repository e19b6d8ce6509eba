import { expect, test } from 'vitest';
import { connect, type ConnectOptions } from '@remotes-hub/client';
import { checkClose } from '../../client-sdk/src/checks.js';
import { parseConnectOptions } from '../../client-sdk/src/options.js';
import { LoggedIn } from './scripted-hub.js';

const url = 'ws://127.0.0.1:1/ws';
const token = 'secret';

test.each([
  ['not a url', 'url: expected an absolute ws(s):// or http(s):// URL'],
  ['/ws', 'url: expected an absolute ws(s):// or http(s):// URL'],
  ['ftp://hub.example/ws', 'url: expected ws(s):// or http(s)://, received ftp://'],
  ['ws://ada:pw@hub.example/ws', 'url: credentials belong into the options, not into the URL'],
  ['ws://hub.example/ws#a', 'url: a fragment (#…) is not allowed'],
])('the url %s is a TypeError', async (badUrl, message) => {
  await expect(connect(badUrl, { token })).rejects.toThrow(new TypeError(message));
});

test.each<[object, string]>([
  [{}, 'TypeError: credentials: expected either {token} or {username, password}'],
  [{ username: 'ada' }, 'TypeError: credentials: expected either {token} or {username, password}'],
  [
    { token, username: 'a', password: 'b' },
    'TypeError: credentials: expected either {token} or {username, password}',
  ],
  [{ token: 5 }, 'TypeError: token: expected a string'],
  [{ token: '' }, 'RangeError: token: expected 1 to 16384 characters, got 0'],
  [{ token, instanceId: 'short' }, 'RangeError: instanceId: expected 16 to 128 characters, got 5'],
  [
    { token, connectTimeoutMs: 0 },
    'RangeError: connectTimeoutMs: expected an integer from 1 to 600000, got 0',
  ],
  [{ token, connectTimeoutMs: '9' }, 'TypeError: connectTimeoutMs: expected a number'],
  [{ token, signal: {} }, 'TypeError: signal: expected an AbortSignal'],
  [{ token, WebSocket: 'ws' }, 'TypeError: WebSocket: expected a constructor; there is no global one here'],
])('connect with %o is refused', (options, expected) => {
  const parse = (): unknown => Reflect.apply(parseConnectOptions, undefined, [url, options]);
  expect(parse).toThrow(expect.objectContaining({ message: expected.slice(expected.indexOf(' ') + 1) }));
  expect(parse).toThrow(expected.startsWith('Type') ? TypeError : RangeError);
});

test('an error about credentials does not hold them', () => {
  const options: ConnectOptions = { username: 'ada', password: 'hunter2'.repeat(200) };
  expect(() => parseConnectOptions(url, options)).toThrow(
    /^password: expected 1 to 1024 characters, got 1400$/u,
  );
});

test.each<[number, string, string]>([
  [999, '', 'code (1000, or): expected an integer from 3000 to 4999, got 999'],
  [1001, '', 'code (1000, or): expected an integer from 3000 to 4999, got 1001'],
  [1000, 'é'.repeat(62), 'reason: expected at most 123 bytes of UTF-8'],
  [1000, 'x'.repeat(124), 'reason: expected 0 to 123 characters, got 124'],
])('close(%i, %s) is a RangeError', (code, reason, message) => {
  expect(() => checkClose(code, reason)).toThrow(new RangeError(message));
});

test('misuse of a session is named and sends nothing', async () => {
  await using session = await LoggedIn.start();
  const { client, hub } = session;

  await expect(client.call('', 'f')).rejects.toThrow('remotename: expected 1 to 128 characters, got 0');
  await expect(client.call('x', 'f'.repeat(129))).rejects.toThrow(
    'functionName: expected 1 to 128 characters, got 129',
  );
  await expect(client.call('x', 'f', [1])).rejects.toThrow(new TypeError('args: expected an object'));
  await expect(client.call('x', 'f', { n: 1n })).rejects.toThrow(
    new TypeError('args cannot be sent as JSON: "n" is a big integer'),
  );
  await expect(client.call('x', 'f', {}, { timeoutMs: 600_001 })).rejects.toThrow(
    new RangeError('timeoutMs: expected an integer from 1 to 600000, got 600001'),
  );
  await expect(client.prompt('', 'hello')).rejects.toThrow('agentId: expected 1 to 128 characters, got 0');
  await expect(client.prompt(7, '')).rejects.toThrow('instruction: expected 1 to 100000 characters, got 0');
  const untyped: { on(event: string, listener: () => void): () => void } = client;
  expect(() => untyped.on('nonsense', () => undefined)).toThrow(
    new TypeError("event: there is none named 'nonsense'"),
  );
  await session.settled();
  expect(hub.untaken).toEqual([]);
});

test('a bad function definition is named and sends nothing', async () => {
  await using session = await LoggedIn.start();
  const { client, hub } = session;
  const handler = (): null => null;

  await expect(client.serve('x', { '': { handler } })).rejects.toThrow(
    'functions: the name of a function: expected 1 to 128 characters, got 0',
  );
  await expect(client.serve('x', { f: { handler, timeoutMs: 0 } })).rejects.toThrow(
    new RangeError('functions.f.timeoutMs: expected an integer from 1 to 600000, got 0'),
  );
  const untyped: { serve(remotename: string, functions: object): Promise<unknown> } = client;
  const serve = async (definition: object): Promise<unknown> => untyped.serve('x', { f: definition });
  await expect(serve({})).rejects.toThrow(new TypeError('functions.f.handler: expected a function'));
  await expect(serve({ handler, verb: 'post' })).rejects.toThrow(
    'functions.f.verb: expected get, create, update or delete',
  );
  await expect(serve({ handler, parameters: 'city' })).rejects.toThrow(
    'functions.f.parameters: expected a JSON Schema object or a Standard Schema',
  );
  await session.settled();
  expect(hub.untaken).toEqual([]);
});
