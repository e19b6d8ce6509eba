import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';

const f = { name: 'f', description: 'does f', parameters: { type: 'object' } };

test('REMOTE-01: a connect is answered with message, remotename and nonce, and nothing else', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const v1 = await hub.connect({ v1: true });

  server.send({ action: 'remote-connect', nonce: 'c1', body: { remotename: 'x', tools: [f] } });
  expect(await server.reply('c1')).toEqual({ message: 'remote connected', remotename: 'x', nonce: 'c1' });
  v1.send({ action: 'remote-connect', nonce: 'c2', body: { remotename: 'y', tools: [f] } });
  expect(await v1.reply('c2')).toEqual({ message: 'remote connected', remotename: 'y', nonce: 'c2' });
  expect(hub.hub.counts()).toMatchObject({ remotes: 2, providers: 2 });
});

test('K055: a function listed twice is refused by name and nothing is stored', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();

  const twice = [f, { ...f, name: 'g' }, { ...f, description: 'another f' }];
  expect(await server.request('remote-connect', { remotename: 'x', tools: twice })).toMatchObject({
    error: "body.tools[2].name: function 'f' is listed twice",
    code: 'invalid-body',
  });
  expect(await server.remotes()).toEqual([]);
  expect(await server.call('x', 'f')).toMatchObject({ code: 'remote-not-connected' });
});

test.each([
  ['missing', undefined, 'body.tools: expected array, received undefined'],
  ['null', null, 'body.tools: expected array, received null'],
  ['an object', {}, 'body.tools: expected array, received object'],
  ['a string', '[]', 'body.tools: expected array, received string'],
  ['a list of strings', ['f'], 'body.tools[0]: expected object, received string'],
  ['a list with null', [f, null], 'body.tools[1]: expected object, received null'],
  [
    'a function without a name',
    [{ description: 'x' }],
    'body.tools[0].name: expected string, received undefined',
  ],
  [
    'parameters that are a list',
    [{ ...f, parameters: [] }],
    'body.tools[0].parameters: expected object, received array',
  ],
  [
    'parameters that are true',
    [{ ...f, parameters: true }],
    'body.tools[0].parameters: expected object, received boolean',
  ],
  [
    'a result schema that is null',
    [{ ...f, result: null }],
    'body.tools[0].result: expected object, received null',
  ],
])('K055: tools that are %s are refused and nothing is stored', async (_what, tools, error) => {
  await using hub = await startTestHub();
  const server = await hub.connect();

  expect(await server.request('remote-connect', { remotename: 'x', tools })).toMatchObject({
    error,
    code: 'invalid-body',
  });
  expect(await server.remotes()).toEqual([]);
  expect(hub.hub.counts()).toMatchObject({ remotes: 0, providers: 0 });
});

test('K055: an empty list of tools is a remote without functions', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();

  expect(await server.request('remote-connect', { remotename: 'x', tools: [] })).toMatchObject({
    message: 'remote connected',
  });
  expect(await server.request('remote-list')).toMatchObject({ remotes: [{ remotename: 'x', tools: [] }] });
  expect(await server.call('x', 'f')).toMatchObject({
    error: "remote 'x' has no function 'f'",
    code: 'function-not-found',
  });
});

test.each([
  ['an object type alone', { type: 'object' }],
  ['an empty schema', {}],
  ['null', null],
  ['absent', undefined],
])(
  'K056: parameters that are %s connect, are listed as they were, and let any object pass',
  async (_what, parameters) => {
    await using hub = await startTestHub();
    const server = await hub.connect();
    const tools = [{ name: 'f', ...(parameters !== undefined && { parameters }) }];

    expect(await server.request('remote-connect', { remotename: 'x', tools })).toMatchObject({
      message: 'remote connected',
    });
    expect((await server.request('remote-list'))['remotes']).toEqual([{ remotename: 'x', tools }]);
    const reply = server.call('x', 'f', { any: [1, null], thing: true });
    expect((await server.answer('fits'))['args']).toEqual({ any: [1, null], thing: true });
    expect(await reply).toMatchObject({ result: 'fits' });
  },
);

test('a description of 8192 characters and an odd but fitting function spec connect; beyond is refused', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const spec = {
    name: 'f',
    description: 'é'.repeat(8_192),
    verb: 'get',
    timeoutMs: 600_000,
    maxCalls: 1,
    own: { a: 1 },
  };
  const connect = async (more: object) =>
    server.request('remote-connect', { remotename: 'x', tools: [{ ...spec, ...more }] });

  expect(await connect({ description: 'é'.repeat(8_193) })).toMatchObject({ code: 'invalid-body' });
  expect(await connect({ verb: 'GET' })).toMatchObject({ code: 'invalid-body' });
  expect(await connect({ timeoutMs: 600_001 })).toMatchObject({ code: 'invalid-body' });
  expect(await connect({ timeoutMs: 0 })).toMatchObject({ code: 'invalid-body' });
  expect(await connect({ maxCalls: 1.5 })).toMatchObject({ code: 'invalid-body' });
  expect(await server.remotes()).toEqual([]);
  expect(await connect({})).toMatchObject({ message: 'remote connected' });
});

test('a second connect after a refused one needs no clean-up', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();

  await server.request('remote-connect', { remotename: 'x', tools: [f, f] });
  await server.request('remote-connect', {
    remotename: 'x',
    tools: [{ ...f, parameters: { type: 'string' } }],
  });
  expect(await server.serve('x', ['f'])).toMatchObject({ message: 'remote connected' });
  expect(await server.remotes()).toEqual(['x']);
});
