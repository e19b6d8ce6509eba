import { expect, test } from 'vitest';
import { compileSchema } from '../../../server/src/json-schema/schema.js';

/** `path: message` of the failure, or undefined. */
function failureOf(schema: unknown, value: unknown): string | undefined {
  const failure = compileSchema(schema).validate(value);
  return failure && `${failure.path}: ${failure.message}`;
}

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

const failures: readonly (readonly [unknown, unknown, string])[] = [
  [city, { city: 5 }, '/city: expected string, received number'],
  [city, {}, ': missing property "city"'],
  [city, [], ': expected object, received array'],
  [{ type: ['string', 'null'] }, true, ': expected string or null, received boolean'],
  [{ type: 'integer' }, 1.5, ': expected integer, received number'],
  [{ enum: ['a', 'b', 3] }, 'c', ': expected one of "a", "b", 3'],
  [{ const: { a: 1 } }, 'c', ': expected {"a":1}'],
  [{ minimum: 3 }, 2, ': expected at least 3'],
  [{ exclusiveMaximum: 3 }, 3, ': expected less than 3'],
  [{ multipleOf: 0.01 }, 0.005, ': expected a multiple of 0.01'],
  [{ minLength: 2 }, 'a', ': expected at least 2 characters'],
  [{ pattern: '^a' }, 'secret', ': expected a string that matches "^a"'],
  [{ items: { items: { type: 'number' } } }, [[1], [1, 'x']], '/1/1: expected number, received string'],
  [{ minItems: 1 }, [], ': expected at least 1 item'],
  [{ uniqueItems: true }, [1, 1], ': expected items that differ from each other'],
  [{ contains: { const: 1 } }, [2], ': expected at least 1 item that fit "contains"'],
  [{ maxProperties: 1 }, { a: 1, b: 2 }, ': expected at most 1 property'],
  [{ properties: { a: {} }, additionalProperties: false }, { a: 1, b: 2 }, ': unexpected property "b"'],
  [{ unevaluatedProperties: false }, { b: 2 }, ': unexpected property "b"'],
  [{ propertyNames: { maxLength: 1 } }, { bb: 2 }, ': the property name "bb" is not allowed'],
  [{ dependentRequired: { a: ['b'] } }, { a: 1 }, ': missing property "b"'],
  [{ properties: { a: false } }, { a: 1 }, '/a: no value is allowed here'],
  [{ not: { type: 'string' } }, 'secret', ': fits the form that "not" excludes'],
  [{ oneOf: [{}, {}] }, 1, ': fits more than one of the forms of which only one is allowed'],
  [{ properties: { 'a/b': { type: 'null' } } }, { 'a/b': 1 }, '/a~1b: expected null, received number'],
];

test.each(failures)('schema %j with value %j fails with %j', (schema, value, failure) => {
  expect(failureOf(schema, value)).toBe(failure);
});

test('a union of types fails with all types in one message', () => {
  const union = {
    properties: { n: { anyOf: [{ type: 'string' }, { oneOf: [{ type: 'integer' }, { type: 'null' }] }] } },
  };

  expect(failureOf(union, { n: true })).toBe('/n: expected string, integer or null, received boolean');
});

test('a union of objects fails with the branch that came furthest', () => {
  const circle = {
    type: 'object',
    properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
    required: ['kind', 'radius'],
  };
  const square = {
    type: 'object',
    properties: { kind: { const: 'square' }, side: { type: 'number' } },
    required: ['kind', 'side'],
  };
  const shape = { anyOf: [{ type: 'null' }, circle, square] };

  expect(failureOf(shape, { kind: 'circle', radius: 'x' })).toBe('/radius: expected number, received string');
  expect(failureOf(shape, { kind: 'square', side: 'x' })).toBe('/side: expected number, received string');
  expect(failureOf(shape, { kind: 'square' })).toBe(': missing property "side"');
});

test('the failure after a failed branch has the right path', () => {
  const schema = {
    properties: { a: { anyOf: [{ properties: { b: { type: 'null' } } }, {}] }, c: { type: 'null' } },
  };

  expect(failureOf(schema, { a: { b: 1 }, c: 1 })).toBe('/c: expected null, received number');
});

test('a failure holds nothing of the value but names of properties', () => {
  const secret = 'a-secret-of-the-caller';
  const schemas = [
    { type: 'number' },
    { const: 1 },
    { enum: ['a'] },
    { maxLength: 1 },
    { pattern: '^x' },
    { not: {} },
    { anyOf: [{ const: 1 }, { maxLength: 2 }] },
    { if: {}, then: false },
  ];

  for (const schema of schemas) {
    expect(JSON.stringify(compileSchema(schema).validate(secret))).not.toContain(secret);
    expect(JSON.stringify(compileSchema({ items: schema }).validate([secret]))).not.toContain(secret);
  }
});

test('paths and messages stay short whatever the names and the schema', () => {
  const name = 'n'.repeat(10_000);
  const missing = compileSchema({ required: [name] }).validate({});
  const deep = compileSchema({ additionalProperties: { additionalProperties: false } }).validate({
    [name]: { [name]: 1 },
  });
  const listed = compileSchema({
    enum: Array.from({ length: 5000 }, (_, index) => `${index}-${'x'.repeat(20)}`),
  }).validate(1);

  for (const failure of [missing, deep, listed]) {
    expect(failure?.path.length).toBeLessThan(300);
    expect(failure?.message.length).toBeLessThan(300);
  }
});

test('a value that is too complex says so', () => {
  const values = Array.from({ length: 1000 }, () => 'x');

  expect(compileSchema({ items: { type: 'string' } }, { maxSteps: 1000 }).validate(values)).toEqual({
    path: '',
    keyword: 'budget',
    message: 'the value is too complex to check',
  });
  expect(
    compileSchema({ items: { $ref: '#' } }, { maxEvaluationDepth: 4 }).validate([[[[[[]]]]]]),
  ).toMatchObject({
    keyword: 'depth',
    message: 'the value is too complex to check: it is nested too deeply',
  });
});
