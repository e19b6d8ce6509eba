import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  projectParameters,
  type Projection,
} from '../../../../server/src/agents/provider-tools/tool-schemas.js';
import {
  compileSchema,
  SchemaError,
  type CompiledSchema,
} from '../../../../server/src/json-schema/schema.js';
import { isJsonObject } from '../../../../server/src/json/json-values.js';
import { argumentObject, parameters } from './schema-arbitraries.js';

const openAi = { takesAnyPattern: false };

function compiled(schema: unknown): CompiledSchema | undefined {
  try {
    return compileSchema(schema);
  } catch (error) {
    if (error instanceof SchemaError) return undefined;
    throw error;
  }
}

/** The one known exception: a property that only branches of a union at the top name is told as they have it. */
function isToldByBranches(schema: Record<string, unknown>, projection: Projection, path: string): boolean {
  if (!('schema' in projection) || projection.rule === '' || path === '') return false;
  const name = path.split('/')[1]?.replaceAll('~1', '/').replaceAll('~0', '~') ?? '';
  const own = schema['properties'];
  return !isJsonObject(own) || !Object.hasOwn(own, name);
}

test('RUN-21: a projected schema takes every argument that the hub takes', () => {
  let compared = 0;
  fc.assert(
    fc.property(parameters, argumentObject, (schema, args) => {
      if (compiled(schema)?.validate(args) !== undefined || compiled(schema) === undefined) return;
      const projection = projectParameters(schema, openAi);
      if (!('schema' in projection)) throw new Error(projection.refused);
      compared += 1;
      const failure = compileSchema(projection.schema).validate(args);
      if (failure !== undefined && isToldByBranches(schema, projection, failure.path)) return;
      expect(failure, JSON.stringify(projection.schema)).toBeUndefined();
    }),
    { numRuns: 4_000, seed: 20_261_130 },
  );
  expect(compared).toBeGreaterThan(750);
});

const $defs = { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } };
const node = { $ref: '#/$defs/node' };

// What is cut takes more than before: a keyword that turns on it would then refuse these arguments.
test.each([
  ['not', { not: node }],
  ['oneOf', { oneOf: [node, { required: ['next'] }] }],
  ['if', { if: node, then: { required: ['b'] } }],
])('under %s a recursion that is cut takes nothing away', (keyword, a) => {
  const args = { a: { next: { next: { next: 1 } } } };
  const schema = { $defs, properties: { a } };
  const projection = projectParameters(schema, openAi);
  if (!('schema' in projection)) throw new Error(projection.refused);

  expect(compileSchema(schema).validate(args)).toBeUndefined();
  expect(compileSchema(projection.schema).validate(args)).toBeUndefined();
  expect(JSON.stringify(projection.schema)).not.toContain(`"${keyword}"`);
});

test.each([
  ['maxContains', { contains: node, maxContains: 1 }, [{ next: {} }, { next: { next: { next: 1 } } }]],
  [
    'unevaluatedProperties',
    { patternProperties: { '^\\p{L}': {} }, unevaluatedProperties: false },
    { word: 1 },
  ],
])('%s gives way where what it counts on has become weaker or is gone', (keyword, a, value) => {
  const schema = { $defs, properties: { a } };
  const projection = projectParameters(schema, openAi);
  if (!('schema' in projection)) throw new Error(projection.refused);

  expect(compileSchema(schema).validate({ a: value })).toBeUndefined();
  expect(compileSchema(projection.schema).validate({ a: value })).toBeUndefined();
  expect(JSON.stringify(projection.schema)).not.toContain(`"${keyword}"`);
});
