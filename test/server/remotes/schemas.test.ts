import { createServer } from 'node:http';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';
import type { Message, TestSession } from '../../support/session.js';

async function connect(session: TestSession, parameters: unknown, remotename = 'x'): Promise<Message> {
  return session.request('remote-connect', { remotename, tools: [{ name: 'f', parameters }] });
}

/** Calls `x.f` from the serving session itself, and answers with the arguments it got. */
async function called(session: TestSession, args: object, remotename = 'x'): Promise<Message> {
  const reply = session.call(remotename, 'f', args);
  await session.settle();
  const call = session.others.findIndex(({ action }) => action === 'remote-call');
  if (call === -1) return reply;
  const [forwarded] = session.others.splice(call, 1);
  session.send({
    action: 'remote-call-result',
    requestId: forwarded?.['requestId'],
    result: forwarded?.['args'],
  });
  return reply;
}

const accepted = { message: 'remote connected' };
const refused = { code: 'invalid-arguments', executed: 'no', retryable: false };

test.each([
  [
    'a pattern that is no regular expression',
    { properties: { a: { pattern: '(' } } },
    '/properties/a/pattern: ',
  ],
  ['an unknown type', { properties: { a: { type: 'text' } } }, '/properties/a/type: '],
  ['a keyword of the wrong kind', { required: 'a' }, '/required: '],
  ['a property that is no schema', { properties: { a: 5 } }, '/properties/a: '],
  ['a reference to nowhere', { properties: { a: { $ref: '#/$defs/none' } } }, '/properties/a/$ref: '],
])(
  'REMOTE-07: %s gets invalid-schema, which names the function and the place',
  async (_what, schema, place) => {
    await using hub = await startTestHub();
    const session = await hub.connect();

    const asParameters = await session.request('remote-connect', {
      remotename: 'x',
      tools: [{ name: 'good' }, { name: 'bad one', parameters: { type: 'object', ...schema } }],
    });
    expect(asParameters).toMatchObject({ code: 'invalid-schema' });
    expect(String(asParameters['error']).startsWith(`function 'bad one': parameters${place}`)).toBe(true);
    const asResult = await session.request('remote-connect', {
      remotename: 'x',
      tools: [{ name: 'bad one', result: schema }],
    });
    expect(asResult).toMatchObject({ code: 'invalid-schema' });
    expect(String(asResult['error']).startsWith(`function 'bad one': result${place}`)).toBe(true);
    expect(await session.remotes()).toEqual([]);
  },
);

test('REMOTE-08 SCHEMA-08: a pattern that is not enforced is named in warnings, with remotes.v1 only', async () => {
  await using hub = await startTestHub();
  const v1 = await hub.connect({ v1: true });
  const plain = await hub.connect();
  const parameters = {
    type: 'object',
    properties: { a: { type: 'string', pattern: '^(?!no)' }, b: { pattern: '(.)\\1' }, c: { pattern: '^c' } },
  };

  expect(await connect(v1, parameters, 'x')).toMatchObject({
    warnings: [
      "function 'f': parameters/properties/a/pattern: this pattern needs backtracking and is not enforced",
      "function 'f': parameters/properties/b/pattern: this pattern needs backtracking and is not enforced",
    ],
  });
  expect(Object.keys(await connect(plain, parameters, 'y'))).toEqual(['message', 'remotename', 'nonce']);
  for (const [session, remotename] of [
    [v1, 'x'],
    [plain, 'y'],
  ] as const) {
    expect(await called(session, { a: 'no', b: 'ab', c: 'c' }, remotename)).toMatchObject({
      result: { a: 'no' },
    });
    expect(await called(session, { a: 1 }, remotename)).toMatchObject(refused); // the rest is enforced
    expect(await called(session, { c: 'no' }, remotename)).toMatchObject(refused);
  }
  expect(hub.logs.filter(({ msg }) => msg === 'schemas not wholly enforced')).toHaveLength(2);
});

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

test.each([
  ['string', false],
  ['array', false],
  [['null', 'string'], false],
  ['object', true],
  [['object', 'null'], true],
  [undefined, true],
])('SCHEMA-02: parameters of type %j describe an object: %s', async (type, fits) => {
  await using hub = await startTestHub();
  const session = await hub.connect();

  const reply = await connect(session, { ...(type !== undefined && { type }), description: 'd' });
  expect(reply).toMatchObject(
    fits
      ? accepted
      : {
          error: `function 'f': parameters/type: expected "object", since arguments are an object`,
          code: 'invalid-schema',
        },
  );
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

test('SCHEMA-05: a schema above 64 KiB or 64 levels is refused, one at the bound is not', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const sized = (bytes: number): object => {
    const empty = Buffer.byteLength(JSON.stringify({ type: 'object', description: '' }));
    return { type: 'object', description: 'x'.repeat(bytes - empty) };
  };
  const nested = (levels: number): object => (levels === 1 ? {} : { not: nested(levels - 1) });

  expect(await connect(session, sized(65_537), 'long')).toMatchObject({
    error: "function 'f': parameters: 65537 bytes, at most 65536 are taken",
    code: 'invalid-schema',
  });
  expect(await connect(session, sized(65_536), 'long')).toMatchObject(accepted);
  expect(await connect(session, nested(65), 'deep')).toMatchObject({ code: 'invalid-schema' });
  expect(await connect(session, nested(64), 'deep')).toMatchObject(accepted);
  const multibyte = { description: '€'.repeat(22_000) };
  expect(await connect(session, multibyte, 'bytes')).toMatchObject({ code: 'invalid-schema' });
  expect(await session.remotes()).toEqual(['long', 'deep']);
});

test('K143: a reference that leaves the schema is refused, and nothing is fetched or read', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  let visits = 0;
  const watched = createServer((_request, response) => {
    visits += 1;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  watched.on('connection', () => (visits += 1));
  await once(watched, 'listening');
  const address = watched.address();
  const port = typeof address === 'object' ? address?.port : undefined;

  const references = [
    `http://127.0.0.1:${port}/s.json`,
    'file:///etc/hostname',
    '//127.0.0.1/s',
    'other.json#/a',
    'urn:x:y',
  ];
  for (const $ref of references) {
    const reply = await connect(session, { type: 'object', properties: { p: { $ref } } });
    expect(reply).toMatchObject({ code: 'invalid-schema' });
    expect(reply['error']).toMatch(/^function 'f': parameters\/properties\/p\/\$ref: /u);
    const based = { $id: `http://127.0.0.1:${port}/base/`, properties: { p: { $ref } } };
    expect(await connect(session, based)).toMatchObject({ code: 'invalid-schema' });
  }
  expect(await session.remotes()).toEqual([]);
  expect(visits).toBe(0);
  watched.close();
  await once(watched, 'close');
});
