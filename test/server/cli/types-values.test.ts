import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '@remotes-hub/client';
import { remoteTypes } from '../../../server/src/cli/typescript/remote-types.js';
import { compileSchema } from '../../../server/src/json-schema/schema.js';
import { compile } from './typescript-compiler.js';

/** The narrowest type of a JSON value. */
function typeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(typeOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${typeOf(member)}`);
  return `{ ${members.join('; ')} }`;
}

/** A module that says which values are of the type of a schema, and which are not. */
function claims(schema: JsonObject, fitting: readonly unknown[], others: readonly unknown[] = []): string {
  const { text } = remoteTypes('r', [{ name: 'f', result: schema }]);
  const lines = [`${text}type Result = Awaited<ReturnType<R['f']>>;`];
  for (const [index, value] of fitting.entries()) {
    lines.push(`declare const fitting${index}: ${typeOf(value)};`);
    lines.push(`export const isFitting${index}: Result = fitting${index};`);
  }
  for (const [index, value] of others.entries()) {
    lines.push(`declare const other${index}: ${typeOf(value)};`);
    lines.push(`// @ts-expect-error\nexport const isOther${index}: Result = other${index};`);
  }
  return lines.join('\n');
}

const string = { type: 'string' };
const number = { type: 'number' };
const tree = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      required: ['children'],
    },
  },
};
const json = {
  anyOf: [
    { type: ['string', 'number', 'boolean', 'null'] },
    { type: 'array', items: { $ref: '#' } },
    { type: 'object', additionalProperties: { $ref: '#' } },
  ],
};

/** Schema, values that fit, values that do not. */
const examples: Record<string, readonly [JsonObject, readonly unknown[], readonly unknown[]]> = {
  scalars: [{ type: ['string', 'null'] }, ['a', null], [1, true, {}, []]],
  integer: [{ type: 'integer' }, [1, -5, 1e21], ['1', null]],
  constants: [
    { enum: ['a', 5, null, false, [1, 'x'], { k: [] }] },
    ['a', 5, null, false, [1, 'x'], { k: [] }],
    ['b', true, [1], { k: [1] }],
  ],
  'constants of a type': [{ type: 'string', enum: ['a', 5] }, ['a'], [5]],
  object: [
    {
      type: 'object',
      properties: { city: string, days: { type: 'integer' } },
      required: ['city', 'country'],
    },
    [
      { city: 'Rome', country: 0 },
      { city: 'Rome', days: 2, country: null, more: true },
    ],
    [{}, { city: 'Rome' }, { city: 5, country: 0 }, { city: 'Rome', country: 0, days: 'two' }, [], 'x'],
  ],
  'a type that is left out': [{ properties: { a: string } }, [{ a: 'x' }, {}], [{ a: 1 }]],
  map: [{ type: 'object', additionalProperties: number }, [{}, { a: 1, b: 2 }], [{ a: 'x' }]],
  'map of patterns': [
    { type: 'object', patternProperties: { '^a': string, '^b': number }, additionalProperties: false },
    [{ a: 'x', b: 1 }],
    [{ a: true }],
  ],
  'properties and more': [
    { type: 'object', properties: { a: string }, required: ['a'], additionalProperties: number },
    [{ a: 'x', b: 1 }],
    [{ b: 1 }],
  ],
  'an empty object': [{ type: 'object', additionalProperties: false }, [{}], [{ a: 1 }]],
  'a forbidden property': [
    { type: 'object', properties: { a: string, b: false } },
    [{ a: 'x' }],
    [{ a: 'x', b: 1 }],
  ],
  list: [{ type: 'array', items: { anyOf: [string, number] } }, [[], ['a', 1]], [[true], 'a']],
  tuple: [
    {
      type: 'array',
      prefixItems: [string, { anyOf: [number, { type: 'null' }] }],
      items: { type: 'boolean' },
      minItems: 1,
    },
    [['a'], ['a', 1], ['a', null, true, false]],
    [[], [1], ['a', 'b'], ['a', 1, 2]],
  ],
  'draft-07 tuple': [
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      items: [string, number],
      additionalItems: false,
      minItems: 2,
    },
    [['a', 1]],
    [['a'], ['a', 1, 2]],
  ],
  union: [
    {
      oneOf: [
        { type: 'object', properties: { kind: { const: 'a' }, a: string }, required: ['kind', 'a'] },
        { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
      ],
    },
    [{ kind: 'a', a: 'x' }, { kind: 'b' }],
    [{ kind: 'a' }, { kind: 'c' }],
  ],
  intersection: [
    {
      allOf: [{ $ref: '#/$defs/named' }, { type: 'object', properties: { age: number }, required: ['age'] }],
      $defs: { named: { type: 'object', properties: { name: string }, required: ['name'] } },
    },
    [{ name: 'x', age: 1 }],
    [{ name: 'x' }, { age: 1 }],
  ],
  'one of two must be there': [
    {
      type: ['object', 'null'],
      properties: { a: string, b: string },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    [{ a: 'x' }, { b: 'x' }, null],
    [{}, { a: 1 }],
  ],
  tree: [tree, [{ children: [{ children: [] }] }], [{ children: [{}] }, {}]],
  'any JSON': [json, ['a', { a: [1, { b: null }] }, [[[]]]], []],
  'draft-07 hides what is beside a reference': [
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $ref: '#/definitions/a',
      type: 'number',
      definitions: { a: string },
    },
    ['x'],
    [1],
  ],
  'names and addresses inside the schema': [
    {
      $id: 'https://example.com/root',
      items: { $ref: 'part' },
      minItems: 1,
      $defs: { p: { $id: 'part', $ref: '#x', $defs: { x: { $anchor: 'x', ...string } } } },
    },
    [['a']],
    [[1]],
  ],
  'what TypeScript cannot say': [
    { not: { type: 'string' }, if: { type: 'number' }, then: { minimum: 5 }, minLength: 2 },
    [5, null, { a: 1 }],
    [],
  ],
};

test(
  'CLI-12: the types take what the hub takes, and refuse what they can tell apart',
  { timeout: 60_000 },
  async () => {
    const modules: Record<string, string> = {};
    for (const [index, [name, [schema, fitting, others]]] of Object.entries(examples).entries()) {
      const compiled = compileSchema(schema);
      for (const value of fitting)
        expect([name, value, compiled.validate(value)]).toEqual([name, value, undefined]);
      // an object whose type was left out is the one exception: the hub takes other kinds of values as well
      for (const value of others)
        expect([name, value, compiled.validate(value) === undefined]).toEqual([name, value, false]);
      modules[`example${index}`] = `// ${name}\n${claims(schema, fitting, others)}`;
    }
    expect(await compile(modules)).toEqual([]);
  },
);

/** Schemas whose every object may hold `a`: the compiler refuses objects with no property in common. */
const { schema: typedSchemas } = fc.letrec<{ schema: JsonObject; object: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('string', 'integer', 'boolean', 'null').map((type): JsonObject => ({ type })),
    fc.constantFrom<JsonObject>({ const: 1 }, { enum: ['x', null, [1]] }, { type: ['string', 'array'] }, {}),
    fc.constantFrom('#/$defs/one', '#/$defs/two').map(($ref): JsonObject => ({ $ref })),
    tie('object'),
    tie('schema').map((items): JsonObject => ({ type: 'array', items })),
    fc.tuple(tie('schema'), tie('schema'), fc.nat(2)).map(([first, items, minItems]): JsonObject => ({
      type: 'array',
      prefixItems: [first],
      items,
      minItems,
    })),
    fc.tuple(tie('schema'), tie('schema')).map((anyOf): JsonObject => ({ anyOf })),
    fc.tuple(tie('schema'), tie('schema')).map((oneOf): JsonObject => ({ oneOf })),
    fc.tuple(tie('object'), tie('object')).map((allOf): JsonObject => ({ allOf })),
    fc
      .tuple(tie('object'), tie('schema'))
      .map(([object, other]): JsonObject => ({ ...object, anyOf: [other, object] })),
  ),
  object: fc
    .record({
      a: tie('schema'),
      b: tie('schema'),
      more: tie('schema'),
      required: fc.subarray(['a', 'b', 'c']),
      how: fc.nat(4),
    })
    .map(({ a, b, more, required, how }): JsonObject => ({
      type: how === 4 ? ['object', 'null'] : 'object',
      properties: how === 3 ? { a } : { a, b },
      required,
      ...(how === 0 && { additionalProperties: more }),
      ...(how === 1 && { patternProperties: { '^c': more } }),
    })),
}));

const documents = fc
  .tuple(typedSchemas, typedSchemas, typedSchemas)
  .map(([schema, one, two]): JsonObject => ({ ...schema, $defs: { one, two } }));

const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom('x', 'y', 1, 2, true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.record({ a: tie('value') }),
    fc.record({ a: tie('value'), b: tie('value'), c: tie('value') }, { requiredKeys: ['a'] }),
  ),
}));

test('CLI-12: whatever fits a schema is of its type', { timeout: 60_000 }, async () => {
  const modules: Record<string, string> = {};
  let claimed = 0;
  for (const [index, [schema, some]] of fc
    .sample(fc.tuple(documents, fc.array(values, { minLength: 20, maxLength: 40 })), 300)
    .entries()) {
    const fitting = fittingValues(schema, some);
    claimed += fitting.length;
    modules[`m${index}`] = claims(schema, fitting);
  }
  const problems = await compile(modules);
  expect(problems.slice(0, 3).map((line) => `${line}\n${modules[line.split('.')[0] ?? ''] ?? ''}`)).toEqual(
    [],
  );
  expect(claimed).toBeGreaterThan(500);
});

function fittingValues(schema: JsonObject, some: readonly unknown[]): unknown[] {
  try {
    const compiled = compileSchema(schema);
    return some.filter((value) => compiled.validate(value) === undefined);
  } catch {
    return []; // endless references, which the hub refuses
  }
}
