import { expect, test } from 'vitest';
import { CompiledTools, unusedName } from '../../../../server/src/agents/provider-tools/compiled-tools.js';
import { projectParameters } from '../../../../server/src/agents/provider-tools/tool-schemas.js';
import { toolRules } from '../../../../server/src/agents/provider-tools/tool-rules.js';
import { modelTool } from '../../../../server/src/agents/run-tools.js';
import { JsonText } from '../../../../server/src/json/json-text.js';
import { isJsonObject } from '../../../../server/src/json/json-values.js';

/** What both providers take. */
const strictest = { ...toolRules.anthropic, takesAnyPattern: false };

function projected(parameters: unknown) {
  const projection = projectParameters(parameters, strictest);
  if (!('schema' in projection)) throw new Error(projection.refused);
  return projection;
}

/** One property, projected. */
function property(schema: unknown, more: object = {}): unknown {
  const { properties } = projected({ ...more, properties: { p: schema } }).schema;
  return isJsonObject(properties) ? properties['p'] : undefined;
}

const text = { type: 'string' };
const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#' };

test.each([
  [
    'what stands beside a $ref is kept',
    { $ref: '#/$defs/a', maxLength: 3 },
    { type: 'string', maxLength: 3 },
  ],
  ['a description beside a $ref wins', { $ref: '#/$defs/d', description: 'own' }, { description: 'own' }],
  [
    'both required lists hold beside a $ref',
    { $ref: '#/$defs/r', required: ['b'] },
    { required: ['a', 'b'] },
  ],
  [
    'a closed target does not close what stands beside it',
    { $ref: '#/$defs/closed', properties: { b: {} } },
    { properties: { b: {} }, allOf: [{ properties: { a: {} }, additionalProperties: false }] },
  ],
  ['an anchor is followed', { $ref: '#named' }, { type: 'number' }],
  ['an address is followed', { $ref: 'urn:x:other' }, { type: 'boolean' }],
  ['escapes in a pointer are decoded', { $ref: '#/$defs/a~1b~01%20c' }, { type: 'null' }],
])('%s', (_what, schema, expected) => {
  const $defs = {
    a: text,
    d: { description: 'theirs' },
    r: { required: ['a'] },
    closed: { properties: { a: {} }, additionalProperties: false },
    n: { $anchor: 'named', type: 'number' },
    o: { $id: 'urn:x:other', type: 'boolean' },
    'a/b~1 c': { type: 'null' },
  };
  expect(property(schema, { $defs })).toEqual(expected);
});

test('a property may be called like a keyword or like what objects inherit', () => {
  const properties: unknown = JSON.parse(
    '{"$ref":{"type":"string"},"__proto__":{"type":"string"},"constructor":{}}',
  );
  expect(JSON.stringify(property({ properties }))).toBe(
    '{"properties":{"$ref":{"type":"string"},"__proto__":{"type":"string"},"constructor":{}}}',
  );
});

test('constants, defaults and examples are data, whatever they look like', () => {
  const data = { $ref: '#/nowhere', $id: 'x', items: [1] };
  const schema = { default: data, examples: [data], enum: [data], const: data };
  expect(property(schema)).toEqual(schema);
});

test.each([
  ["draft-04's exclusive bound", { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
  ["draft-04's inclusive bound", { maximum: 1, exclusiveMaximum: false }, { maximum: 1 }],
  [
    'a list of items',
    { type: 'array', items: [text], additionalItems: false },
    { type: 'array', prefixItems: [text], items: { not: {} } },
  ],
  ['items that may be anything', { type: 'array', items: true }, { type: 'array', items: {} }],
  ['a remark of the wrong kind', { title: 5, deprecated: 'yes', type: 'string' }, text],
  ['a name that is required twice', { required: ['a', 'a'] }, { required: ['a'] }],
  ['a look-around', { type: 'string', pattern: '^(?!a)' }, text],
  ['a pattern that all can read', { pattern: '^[\\w.-]+@\\w+$' }, { pattern: '^[\\w.-]+@\\w+$' }],
  [
    'a pattern for names that not all can read',
    { patternProperties: { '^\\p{L}': text, '^x-': text }, additionalProperties: false },
    { patternProperties: { '^x-': text } },
  ],
  ['half a character in a text', { description: 'x\uD83D' }, { description: 'x\uFFFD' }],
])('%s is projected', (_what, schema, expected) => {
  expect(property(schema)).toEqual(expected);
});

test('in draft-07 what stands beside a $ref constrains nothing, and newer keywords are words without meaning', () => {
  const schema = { $ref: '#/definitions/a', maxLength: 1, description: 'own' };
  expect(property(schema, { ...draft7, definitions: { a: text } })).toEqual({ ...text, description: 'own' });
  expect(property({ prefixItems: [text], dependentRequired: { a: ['b'] } }, draft7)).toEqual({});
});

test('parameters that are a $ref keep the properties of what it refers to', () => {
  const $defs = { args: { type: 'object', properties: { q: text }, required: ['q'] } };
  const parameters = { $ref: '#/$defs/args', $defs };
  const tool = modelTool({ name: 'f', spec: { name: 'f', parameters } });
  expect(projected(tool.parameters.parse()).schema).toEqual($defs.args);
});

test('the parts of allOf at the top are joined; one that contradicts goes into the description', () => {
  const given = {
    allOf: [
      { properties: { a: text }, required: ['a'] },
      { properties: { b: {} }, required: ['b'] },
    ],
  };
  expect(projected(given)).toMatchObject({
    schema: { type: 'object', properties: { a: text, b: {} }, required: ['a', 'b'] },
    rule: '',
  });
  expect(projected({ properties: { a: text }, allOf: [{ properties: { a: { maxLength: 3 } } }] })).toEqual({
    schema: { type: 'object', properties: { a: text } },
    rule: 'The arguments must also satisfy: {"allOf":[{"properties":{"a":{"maxLength":3}}}]}',
    changes: ["'allOf' at the top moved into the description"],
  });
});

test('a property that branches of a union describe differently may be as any of them says', () => {
  const oneOf = [{ properties: { kind: { const: 'a' } } }, { properties: { kind: { const: 'b' } } }];
  expect(projected({ oneOf }).schema['properties']).toEqual({
    kind: { anyOf: [{ const: 'a' }, { const: 'b' }] },
  });
});

test('RUN-19: a property at the top whose name the provider refuses is sent under another, required or not', () => {
  const parameters = {
    properties: { 'filter[id]': text, q: { properties: { 'a b': text } }, filter_id__665d001d: text },
    required: ['filter[id]'],
    dependentRequired: { q: ['filter[id]'] },
  };
  expect(projectParameters(parameters, toolRules.anthropic)).toMatchObject({
    schema: {
      properties: { filter_id__665d001d7: text, q: { properties: { 'a b': {} } }, filter_id__665d001d: text },
      required: ['filter_id__665d001d7'],
    },
    changes: ['the property "filter[id]" is sent as \'filter_id__665d001d7\''],
  });
  expect(projectParameters(parameters, toolRules['openai-compatible'])).toMatchObject({
    schema: { required: ['filter[id]'], dependentRequired: { q: ['filter[id]'] } },
    changes: [],
  });
});

test('a big constant that is referred to many times is refused', () => {
  const big = { enum: Array.from({ length: 4_000 }, (_, index) => `value ${index}`) };
  const properties = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, index) => [`p${index}`, { $ref: '#/$defs/big' }]),
  );
  expect(projectParameters({ $defs: { big }, properties }, strictest)).toEqual({
    refused: 'the parameters hold more than 131072 characters',
  });
});

test('a description that is cut holds no half of a character', () => {
  const description = `${'x'.repeat(1_022)}😀${'x'.repeat(10)}`;
  const tools = [{ name: 'f', description, parameters: JsonText.of({ type: 'object' }) }];
  expect(new CompiledTools(tools, toolRules.anthropic).tools[0]?.description).toMatch(/x\uFFFD…$/u);
});

test('a name of our own stays short, whatever names are taken', () => {
  const taken: string[] = [];
  for (let count = 0; count < 50; count += 1) taken.push(unusedName('call_function', taken));
  expect(new Set(taken).size).toBe(50);
  expect(taken.slice(0, 3)).toEqual(['call_function', 'hub_call_function', 'hub_2_call_function']);
  expect(Math.max(...taken.map(({ length }) => length))).toBeLessThanOrEqual(64);
});
