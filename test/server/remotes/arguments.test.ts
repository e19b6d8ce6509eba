import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';
import { called, connect } from './schema-fixtures.js';

const accepted = { message: 'remote connected' };
const refused = { code: 'invalid-arguments', executed: 'no', retryable: false };

test('SCHEMA-01: arguments that do not fit are refused, the text names the place, and nothing is forwarded', async () => {
  await using hub = await startTestHub();
  const server = await hub.connect();
  const caller = await hub.connect();
  const parameters = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'array', items: { type: 'integer' } } },
    required: ['city'],
    additionalProperties: false,
  };
  await server.request('remote-connect', {
    remotename: 'weather',
    tools: [{ name: 'get_forecast', parameters }],
  });

  expect(await caller.call('weather', 'get_forecast', { city: 7 })).toMatchObject({
    ...refused,
    error: 'arguments of get_forecast: /city: expected string, received number',
  });
  const texts = [];
  for (const args of [{}, undefined, { city: 'Rome', days: [1, '2'] }, { city: 'Rome', 'a/b~': 1 }]) {
    const reply = await caller.call('weather', 'get_forecast', args);
    expect(reply).toMatchObject(refused);
    texts.push(String(reply['error']));
  }
  expect(texts).toEqual([
    'arguments of get_forecast: missing property "city"',
    'arguments of get_forecast: missing property "city"',
    'arguments of get_forecast: /days/1: expected integer, received string',
    'arguments of get_forecast: unexpected property "a/b~"',
  ]);
  await server.settle();
  expect(server.others).toEqual([]);
  expect(hub.hub.counts().pendingCalls).toBe(0);
});

test('K146: unknown keywords are ignored', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const city = {
    type: 'string',
    'x-order': 1,
    nullable: true,
    example: 'Rome',
    discriminator: { a: 1 },
    xml: [],
  };

  expect(await connect(session, { type: 'object', properties: { city }, example: {} })).toMatchObject(
    accepted,
  );
  expect(await called(session, { city: 'Rome' })).toMatchObject({ result: { city: 'Rome' } });
  expect(await called(session, { city: null })).toMatchObject(refused); // nullable is not JSON Schema
});

test.each([
  'https://json-schema.org/draft/2020-12/schema',
  'http://json-schema.org/draft-07/schema#',
  'http://json-schema.org/draft-07/schema',
  'http://json-schema.org/draft-04/schema#',
  'asdf',
])('K147: $schema %j connects and known keywords are applied', async ($schema) => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const pair = { type: 'array', prefixItems: [{ type: 'string' }], items: [{ type: 'number' }] };
  const isDraft7 = $schema.includes('draft-07');
  const list = isDraft7
    ? pair
    : { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } };

  const parameters = { $schema, type: 'object', properties: { list, n: { type: 'integer' } } };
  expect(await connect(session, parameters)).toMatchObject(accepted);
  expect(await called(session, { n: 1.5 })).toMatchObject(refused);
  expect(await called(session, { n: 2, list: ['a'] })).toMatchObject(
    isDraft7 ? refused : { result: { n: 2 } },
  );
  expect(await called(session, { n: 2, list: [1] })).toMatchObject(isDraft7 ? { result: { n: 2 } } : refused);
});

test.each(['email', 'date-time', 'x-city', 'regex', ''])('K152: format %j is a hint', async (format) => {
  await using hub = await startTestHub();
  const session = await hub.connect();

  expect(await connect(session, { properties: { a: { type: 'string', format } } })).toMatchObject(accepted);
  expect(await called(session, { a: '(((' })).toMatchObject({ result: { a: '(((' } });
  expect(await called(session, { a: 1 })).toMatchObject(refused);
});

test('K149: recursion through properties works, a reference that leads only to itself is refused', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const node = { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#/$defs/n' } } } };
  const tree = { type: 'object', properties: { root: { $ref: '#/$defs/n' } }, $defs: { n: node } };
  const self = { type: 'object', properties: { next: { $ref: '#' }, v: { type: 'number' } } };

  expect(await connect(session, tree, 'x')).toMatchObject(accepted);
  expect(await called(session, { root: { kids: [{ kids: [{}] }] } })).toMatchObject({ result: {} });
  expect(await called(session, { root: { kids: [{ kids: [7] }] } })).toMatchObject({
    ...refused,
    error: 'arguments of f: /root/kids/0/kids/0: expected object, received number',
  });
  expect(await connect(session, self, 'y')).toMatchObject(accepted);
  const deep = (levels: number, end: unknown): object =>
    levels === 0 ? { v: end } : { next: deep(levels - 1, end) };
  expect(await called(session, deep(100, 1), 'y')).toMatchObject({ result: {} });
  expect(await called(session, deep(100, 'x'), 'y')).toMatchObject(refused);

  for (const $defs of [
    { a: { $ref: '#/$defs/a' } },
    { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } },
  ]) {
    expect(await connect(session, { properties: { p: { $ref: '#/$defs/a' } }, $defs }, 'z')).toMatchObject({
      code: 'invalid-schema',
    });
  }
  expect(await session.remotes()).toEqual(['x', 'y']);
});

test('K150: nothing is coerced, defaulted or dropped: what is forwarded is what was sent', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const properties = {
    n: { type: ['string', 'null'] },
    i: { type: 'integer' },
    b: { type: 'boolean' },
    d: { type: 'string', default: 'filled in' },
  };
  await connect(session, { type: 'object', properties });

  expect(await called(session, { n: null })).toEqual(expect.objectContaining({ result: { n: null } }));
  expect(await called(session, { unknown: 1 })).toEqual(expect.objectContaining({ result: { unknown: 1 } }));
  for (const [args, name] of [
    [{ i: '5' }, 'i'],
    [{ i: 1.5 }, 'i'],
    [{ b: 1 }, 'b'],
    [{ b: 'false' }, 'b'],
    [{ n: 0 }, 'n'],
  ] as const) {
    const reply = await called(session, args);
    expect(reply).toMatchObject(refused);
    expect(reply['error']).toContain(`/${name}: expected `);
  }
  session.send(
    '{"action":"remote-call","nonce":"i","body":{"remotename":"x","function":"f","args":{"i":1.0}}}',
  );
  await session.settle();
  expect(session.frames).toContainEqual(expect.stringContaining('"args":{"i":1.0}'));
});
