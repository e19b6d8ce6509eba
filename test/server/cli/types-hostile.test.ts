import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject } from '../../../client-sdk/src/json-values.js';
import type { JsonObject } from '@remotes-hub/client';
import { remoteTypes } from '../../../server/src/cli/typescript/remote-types.js';
import { compile } from './typescript-compiler.js';

const hostileTexts = [
  '*/ const broken: = 1; /*',
  '*\u0000/ x',
  '@ts-expect-error',
  'text\n@ts-ignore',
  '  * @ts-expect-error',
  '/// <reference path="/etc/passwd" />',
  '@jsxImportSource evil',
  '`${process.exit()}`',
  'a\u2028b\u2029c\u0085d',
  '\u202Eright to left',
  '\uD800 alone',
  '\uFFFD\u0000\u001B[31m',
  '"\'\\',
  '\\u0022; export {}',
  '**/',
  '/',
  '',
];

const names = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'A', 'a-b', 'new', 'constructor', '__proto__', 'get', 'readonly', 'then'),
  fc.constantFrom('Promise', 'Array', 'any', 'unknown', 'string', 'async', 'import', '[x]', '7', 'é', '日本'),
  fc.constantFrom(...hostileTexts.filter((text) => text !== '')),
);

const texts = fc.oneof(fc.constantFrom(...hostileTexts), fc.string({ unit: 'binary', maxLength: 20 }));

const references = fc.constantFrom(
  ...['#', '#/$defs/a', '#/$defs/b', '#/$defs/c', '#/$defs/a-b', '#/properties/a', '#/items', '#/allOf/0'],
  ...[
    '#/anyOf/1',
    '#/$defs/a/properties/b',
    '#/$defs/__proto__',
    '#anchor',
    '#/nowhere',
    'other.json',
    '%',
    '',
  ],
);

const kinds = fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'object', 'array', 'any');

const dialects = fc.constantFrom(
  'http://json-schema.org/draft-07/schema#',
  'https://json-schema.org/draft/2020-12/schema',
);
const values = fc.oneof(fc.jsonValue({ maxDepth: 2 }), texts, fc.double());

/** Schemas as nobody writes them, of every keyword that is read, right and wrong. */
const { keywords: schemas } = fc.letrec<{
  schema: unknown;
  list: unknown[];
  map: object;
  keywords: JsonObject;
}>((tie) => {
  const keyword = <Value>(name: string, value: fc.Arbitrary<Value>) => fc.tuple(fc.constant(name), value);
  const some = fc.oneof(
    keyword('$ref', references),
    keyword('$schema', dialects),
    keyword('type', fc.oneof(kinds, kinds, fc.array(kinds, { maxLength: 3 }), fc.constant(5))),
    keyword('description', texts),
    keyword('properties', tie('map')),
    keyword('properties', tie('map')),
    keyword('required', fc.oneof(fc.array(names, { maxLength: 3 }), fc.constant('a'))),
    keyword('additionalProperties', tie('schema')),
    keyword('patternProperties', tie('map')),
    keyword('items', fc.oneof(tie('schema'), tie('list'))),
    keyword('prefixItems', tie('list')),
    keyword('additionalItems', tie('schema')),
    keyword('minItems', fc.integer({ min: -1, max: 3 })),
    keyword('allOf', tie('list')),
    keyword('anyOf', tie('list')),
    keyword('oneOf', tie('list')),
    keyword('const', values),
    keyword('enum', fc.oneof(fc.array(values, { maxLength: 5 }), fc.constant('a'))),
    keyword('$defs', tie('map')),
  );
  return {
    schema: fc.oneof(
      { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
      fc.boolean(),
      tie('keywords'),
    ),
    list: fc.array(tie('schema'), { maxLength: 3 }),
    map: fc
      .array(fc.tuple(names, tie('schema')), { maxLength: 3 })
      .map((entries) => Object.fromEntries(entries)),
    keywords: fc
      .array(some, { maxLength: 5 })
      .map((entries): JsonObject => received(Object.fromEntries(entries))),
  };
});

/** As it comes over the wire. */
function received(value: object): JsonObject {
  const read: unknown = JSON.parse(JSON.stringify(value));
  if (!isJsonObject(read)) throw new Error('no object');
  return read;
}

/** With definitions at its root, so that references find something. */
const documents = fc
  .tuple(schemas, fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'a-b'), schemas), { maxLength: 4 }))
  .map(([schema, definitions]): JsonObject => ({ ...schema, $defs: Object.fromEntries(definitions) }));

/** Recursion in all its shapes: definitions that refer to each other and to the root, by every way. */
const { recursive } = fc.letrec<{ recursive: JsonObject; list: JsonObject[] }>((tie) => ({
  recursive: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom('#', '#/$defs/a', '#/$defs/b', '#/$defs/c').map(($ref) => ({ $ref })),
    fc.constantFrom('string', 'boolean').map((type) => ({ type })),
    tie('recursive').map((items) => ({ type: 'array', items })),
    tie('recursive').map((a) => ({ type: 'object', properties: { a } })),
    tie('recursive').map((additionalProperties) => ({ type: 'object', additionalProperties })),
    fc.record({ type: fc.constant('array'), prefixItems: tie('list'), minItems: fc.nat(2) }),
    fc.record({ type: fc.constant('array'), prefixItems: tie('list'), items: tie('recursive') }),
    tie('list').map((anyOf) => ({ anyOf })),
    tie('list').map((allOf) => ({ allOf })),
    fc.tuple(tie('list'), tie('recursive')).map(([anyOf, other]) => ({ ...other, anyOf })),
  ),
  list: fc.array(tie('recursive'), { minLength: 1, maxLength: 3 }),
}));

const loops = fc
  .tuple(recursive, recursive, recursive, recursive)
  .map(([schema, a, b, c]): JsonObject => ({ ...schema, $defs: { a, b, c } }));

const functions = fc.record({
  name: names,
  description: texts,
  parameters: fc.oneof(documents, loops),
  result: fc.oneof(documents, loops),
});
const remotes = fc.record({
  remotename: names,
  functions: fc.uniqueArray(functions, { selector: ({ name }) => name, maxLength: 3 }),
});

test(
  'CLI-11: whatever a remote is made of, its types are a module that the compiler takes',
  { timeout: 120_000 },
  async () => {
    const samples = fc.sample(remotes, 400);
    const modules = Object.fromEntries(
      samples.map(({ remotename, functions: specs }, index) => [
        `m${index}`,
        `${remoteTypes(remotename, specs).text}\nexport const after: string = '';\n`,
      ]),
    );
    // that the last line is code says that no comment or text has swallowed it
    const uses = samples.map(
      (_sample, index) => `import { after as a${index} } from './m${index}.js'; void a${index};`,
    );

    const problems = await compile({ ...modules, uses: uses.join('\n') });
    expect(problems.slice(0, 5).map((line) => `${line}\n${modules[line.split('.')[0] ?? ''] ?? ''}`)).toEqual(
      [],
    );
  },
);
