import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { compileSchema, SchemaError } from '../../../server/src/json-schema/schema.js';

/** `path: message` of the refusal. */
function refusalOf(schema: unknown): string {
  try {
    compileSchema(schema);
  } catch (error) {
    if (error instanceof SchemaError) return `${error.path}: ${error.message}`;
    throw error;
  }
  return 'not refused';
}

const types = '"string", "number", "integer", "boolean", "object", "array" or "null"';

const refusals: readonly (readonly [unknown, string])[] = [
  ['x', ': expected a schema (an object or a boolean), received string'],
  [{ type: 'strin' }, `/type: "type" is string, expected ${types}`],
  [{ type: ['string', 5] }, `/type/1: "type" is 5, expected ${types}`],
  [{ required: 'x' }, '/required: "required" is string, expected an array of strings'],
  [{ properties: [] }, '/properties: "properties" is array, expected an object'],
  [{ properties: { a: 1 } }, '/properties/a: expected a schema (an object or a boolean), received number'],
  [{ items: { minLength: -1 } }, '/items/minLength: "minLength" is -1, expected a non-negative integer'],
  [{ maximum: '5' }, '/maximum: "maximum" is string, expected a number'],
  [{ multipleOf: 0 }, '/multipleOf: "multipleOf" is 0, expected a number above 0'],
  [{ enum: 'a' }, '/enum: "enum" is string, expected an array'],
  [{ anyOf: [] }, '/anyOf: "anyOf" is array, expected a non-empty array of schemas'],
  [{ uniqueItems: 1 }, '/uniqueItems: "uniqueItems" is 1, expected a boolean'],
  [{ $defs: { unused: { pattern: 5 } } }, '/$defs/unused/pattern: "pattern" is 5, expected a string'],
  [{ $schema: 7 }, '/$schema: "$schema" is number, expected a string'],
  [{ $id: 7 }, '/$id: "$id" is number, expected a string'],
  [{ $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } }, '/$defs/b/$anchor: two schemas are named "x"'],
  [{ $ref: '#/$defs/none' }, '/$ref: "$ref" points at nothing in this schema: "#/$defs/none"'],
  [{ $ref: '#/constructor' }, '/$ref: "$ref" points at nothing in this schema: "#/constructor"'],
  [{ $ref: '#%' }, '/$ref: "$ref" points at nothing in this schema: "#%"'],
  [{ pattern: '(' }, '/pattern: not a regular expression: "("'],
  [{ patternProperties: { '(': {} } }, '/patternProperties/(: not a regular expression: "("'],
];

test.each(refusals)('schema %j is refused: %s', (schema, refusal) => {
  expect(refusalOf(schema)).toBe(refusal);
});

test('K144: an invalid pattern is refused when the schema is compiled', () => {
  expect(() => compileSchema({ type: 'string', pattern: '(' })).toThrow(SchemaError);
});

test('K143: a reference to a URL or a file is refused by name, and nothing is requested', async () => {
  let connections = 0;
  const server = createServer(() => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const url = `http://127.0.0.1:${port}/s.json`;

  expect(refusalOf({ properties: { a: { $ref: url } } })).toBe(
    `/properties/a/$ref: "$ref" points outside this schema: "${url}"`,
  );
  expect(refusalOf({ properties: { a: { $ref: 'file:///some/file.json' } } })).toBe(
    '/properties/a/$ref: "$ref" points outside this schema: "file:///some/file.json"',
  );
  await new Promise((resolve) => server.close(resolve)); // waits for connections that were made
  expect(connections).toBe(0);
});

const endless: readonly unknown[] = [
  { $ref: '#' },
  { $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
  { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
  { allOf: [{ $ref: '#' }] },
  { anyOf: [{ type: 'string' }, { $ref: '#' }] },
  { not: { $ref: '#' } },
  { if: { $ref: '#' } },
  { dependentSchemas: { a: { $ref: '#' } } },
  { $schema: 'http://json-schema.org/draft-07/schema#', oneOf: [{ $ref: '#' }] },
  { unevaluatedProperties: false, allOf: [{ $ref: '#' }] },
];

test.each(endless)('K149: %j is refused, for its reference never goes into the value', (schema) => {
  expect(refusalOf(schema)).toContain('the schema refers to itself without end');
});

test('K149: recursion through properties and items is used', () => {
  const tree = compileSchema({
    $defs: { n: { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#/$defs/n' } } } } },
    $ref: '#/$defs/n',
  });
  const list = compileSchema({ properties: { next: { $ref: '#' } }, additionalProperties: false });

  expect(tree.validate({ kids: [{ kids: [] }, {}] })).toBeUndefined();
  expect(tree.validate({ kids: [{ kids: [1] }] })?.path).toBe('/kids/0/kids/0');
  expect(list.validate({ next: { next: {} } })).toBeUndefined();
  expect(list.validate({ next: { nexd: {} } })).toMatchObject({
    path: '/next',
    message: 'unexpected property "nexd"',
  });
});

test('K148: two schemas with the same $id never meet', () => {
  const strings = compileSchema({
    $id: 'http://example.com/s',
    $defs: { v: { type: 'string' } },
    items: { $ref: 's#/$defs/v' },
  });
  const numbers = compileSchema({
    $id: 'http://example.com/s',
    $defs: { v: { type: 'number' } },
    items: { $ref: 's#/$defs/v' },
  });

  expect(strings.validate(['a'])).toBeUndefined();
  expect(numbers.validate(['a'])?.path).toBe('/0');
  expect(refusalOf({ $ref: 'http://example.com/s' })).toContain('points outside this schema');
});

test('a schema that is given as one shared object in many places stays bounded', () => {
  let shared: unknown = { type: 'string' };
  for (let level = 0; level < 30; level += 1) shared = { allOf: [shared, shared] };

  expect(refusalOf(shared)).toBe(': the schema is made of more than 10000 values');
});
