import { expect, test } from 'vitest';
import { compileSchema } from '../../../server/src/json-schema/schema.js';

function fits(schema: unknown, value: unknown): boolean {
  return compileSchema(schema).validate(value) === undefined;
}

const draft7 = 'http://json-schema.org/draft-07/schema#';

test.each([
  'https://json-schema.org/draft/2020-12/schema',
  'http://json-schema.org/draft-07/schema',
  draft7,
  'https://json-schema.org/draft-07/schema#',
  'http://json-schema.org/draft-04/schema#',
  'asdf',
])('K147: with $schema %s the known keywords are applied', ($schema) => {
  const schema = { $schema, type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };

  expect(fits(schema, { a: 'x' })).toBe(true);
  expect(fits(schema, { a: 1 })).toBe(false);
  expect(fits(schema, {})).toBe(false);
});

test('K147: draft-07 ignores what stands beside $ref and knows only its own keywords', () => {
  const definitions = { a: { type: 'string' } };

  expect(
    fits(
      { $schema: draft7, definitions, properties: { p: { $ref: '#/definitions/a', maxLength: 1 } } },
      { p: 'xx' },
    ),
  ).toBe(true);
  expect(
    fits({ definitions, properties: { p: { $ref: '#/definitions/a', maxLength: 1 } } }, { p: 'xx' }),
  ).toBe(false);
  expect(fits({ $schema: draft7, dependentRequired: { a: ['b'] } }, { a: 1 })).toBe(true);
});

test('K147: the older spellings are understood without a $schema', () => {
  expect(fits({ items: [{ type: 'string' }], additionalItems: false }, ['a'])).toBe(true);
  expect(fits({ items: [{ type: 'string' }], additionalItems: false }, ['a', 1])).toBe(false);
  expect(fits({ dependencies: { a: ['b'], c: { minProperties: 2 } } }, { a: 1 })).toBe(false);
  expect(fits({ dependencies: { a: ['b'], c: { minProperties: 2 } } }, { c: 1 })).toBe(false);
});

test("K147: draft-04's boolean exclusive bounds are honoured", () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-04/schema#',
    minimum: 1,
    exclusiveMinimum: true,
    maximum: 3,
    exclusiveMaximum: false,
  };

  expect([1, 2, 3].map((value) => fits(schema, value))).toEqual([false, true, true]);
});

test('K146: unknown keywords are ignored, nullable among them', () => {
  const schema = { type: 'string', 'x-order': 1, nullable: true, example: 'Rome', title: 7 };

  expect(fits(schema, 'Rome')).toBe(true);
  expect(fits(schema, null)).toBe(false);
});

test.each(['email', 'date-time', 'x-city', 5])('K152: format %s is a hint and never an error', (format) => {
  expect(fits({ type: 'string', format }, 'anything')).toBe(true);
});

test('K150: null fits a nullable property, and nothing is coerced', () => {
  const schema = compileSchema({
    type: 'object',
    properties: {
      n: { type: ['string', 'null'] },
      i: { type: 'integer', default: 3 },
      b: { type: 'boolean' },
    },
  });
  const values = [{ n: null }, { i: '5' }, { b: 1 }, { b: 'false' }];
  const before = structuredClone(values);

  expect(values.map((value) => schema.validate(value)?.path)).toEqual([undefined, '/i', '/b', '/b']);
  expect(values).toEqual(before);
});

test('SCHEMA-07: only own properties count, whatever their names', () => {
  const parsed: unknown = JSON.parse('{"__proto__": 5, "constructor": "x"}');
  const schema: unknown = JSON.parse(
    '{"properties": {"__proto__": {"type": "string"}, "constructor": {"type": "string"}}, "additionalProperties": false}',
  );

  expect(fits({ required: ['constructor'] }, {})).toBe(false);
  expect(fits({ required: ['toString', '__proto__'] }, {})).toBe(false);
  expect(fits({ required: ['__proto__'] }, parsed)).toBe(true);
  expect(fits({ properties: { toString: { type: 'null' }, constructor: { type: 'null' } } }, {})).toBe(true);
  expect(compileSchema(schema).validate(parsed)).toMatchObject({ path: '/__proto__' });
  expect(fits({ additionalProperties: { type: 'string' } }, parsed)).toBe(false);
  expect(fits({ const: {} }, parsed)).toBe(false);
  expect(fits({ uniqueItems: true }, [JSON.parse('{"__proto__": 1}'), {}])).toBe(true);
  expect(fits(JSON.parse('{"__proto__": {"type": "string"}}'), 5)).toBe(true);
});

test('names that would matter to generated code are names', () => {
  const name = '"];process.exit(1);//\u2028`${1}\\';

  expect(fits({ properties: { [name]: { const: name } }, required: [name] }, { [name]: name })).toBe(true);
  expect(fits({ properties: { [name]: { const: name } } }, { [name]: 1 })).toBe(false);
});

test('multipleOf is exact on decimals', () => {
  expect(fits({ multipleOf: 0.01 }, 19.99)).toBe(true);
  expect(fits({ multipleOf: 0.01 }, 19.999)).toBe(false);
  expect(fits({ multipleOf: 0.1 }, -0.3)).toBe(true);
  expect(fits({ multipleOf: 1e-7 }, 3e-7)).toBe(true);
  expect(fits({ multipleOf: 0.5 }, 1e308)).toBe(true);
  expect(fits({ multipleOf: 7 }, -0)).toBe(true);
});

test('numbers too big for a double are numbers, and integers', () => {
  const huge: unknown = JSON.parse('1e400');
  const odd: unknown = JSON.parse('9007199254740993');

  for (const type of ['number', 'integer']) {
    expect(fits({ type }, huge)).toBe(true);
    expect(fits({ type, minimum: 5, multipleOf: 2 }, odd)).toBe(true);
  }
  expect(fits({ maximum: 1e308 }, huge)).toBe(false);
  expect(fits({ multipleOf: 0.3 }, huge)).toBe(true);
  expect(fits({ uniqueItems: true }, [huge, -Infinity])).toBe(true);
});

test('equality is that of JSON: by value, without the order of properties, -0 is 0', () => {
  expect(fits({ const: { a: [1, { b: null }], c: 'x' } }, { c: 'x', a: [1, { b: null }] })).toBe(true);
  expect(fits({ const: [1] }, ['1'])).toBe(false);
  expect(fits({ const: 0 }, -0)).toBe(true);
  expect(fits({ uniqueItems: true }, [0, -0])).toBe(false);
  expect(
    fits({ uniqueItems: true }, [1, '1', true, 'true', null, 'null', [1], '[1]', { a: 1 }, { a: '1' }]),
  ).toBe(true);
  expect(fits({ uniqueItems: true }, [['a,1:b'], ['a', 'b'], { b: 1, a: 2 }, { a: 2, b: 1 }])).toBe(false);
});

test('lengths count characters, not units', () => {
  expect(fits({ minLength: 2, maxLength: 2 }, '😀😀')).toBe(true);
  expect(fits({ minLength: 3 }, '😀😀')).toBe(false);
  expect(fits({ maxLength: 2 }, '\ud83d😀')).toBe(true);
});

test('a schema changed after it was compiled changes nothing', () => {
  const schema = {
    type: 'object',
    properties: { a: { enum: ['x'] } },
    additionalProperties: false as boolean,
  };
  const compiled = compileSchema(schema);
  schema.properties.a.enum.push('y');
  schema.additionalProperties = true;

  expect(compiled.validate({ a: 'y' })).toMatchObject({ message: 'expected one of "x"' });
  expect(compiled.validate({ b: 1 })).toMatchObject({ message: 'unexpected property "b"' });
});
