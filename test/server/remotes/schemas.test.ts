import { createServer } from 'node:http';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startTestHub } from '../../support/hub.js';
import { called, connect } from './schema-fixtures.js';

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
