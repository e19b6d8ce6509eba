import * as fc from 'fast-check';

const propertyNames = fc.constantFrom(
  'city',
  'b',
  '$ref',
  'type',
  'größe',
  'filter[id]',
  '__proto__',
  'constructor',
  'x'.repeat(70),
  '',
);
const types = fc.constantFrom('null', 'boolean', 'number', 'integer', 'string', 'array', 'object');
const patterns = fc.constantFrom('^a', 'b$', '^(?!a)', '(?<=a)b', '\\p{L}', '(a)\\1', '[^]', '^[a-z]+$');
const count = fc.integer({ min: 0, max: 3 });
const number = fc.integer({ min: -4, max: 12 });
const references = fc.constantFrom(
  '#',
  '#/$defs/a',
  '#/$defs/b',
  '#/definitions/a%20b',
  '#/definitions/c~1d',
  '#/properties/city',
  '#anchor',
);

/** Any JSON value of modest size, with the names that the schemas below use. */
export const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    number,
    fc.string({ unit: fc.constantFrom('a', 'b', '1'), maxLength: 4 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .dictionary(propertyNames, tie('value'), { maxKeys: 3 })
      .map((object): unknown => JSON.parse(JSON.stringify(object))),
  ),
}));

/** An object as arguments are. */
export const argumentObject = fc
  .dictionary(propertyNames, value, { maxKeys: 4 })
  .map((object) => JSON.parse(JSON.stringify(object)) as Record<string, unknown>);

type Schema = boolean | Record<string, unknown>;

const { schema: innerSchema } = fc.letrec<{ schema: Schema }>((tie) => {
  const inner = tie('schema');
  const several = fc.array(inner, { minLength: 1, maxLength: 3 });
  const byName = fc.dictionary(propertyNames, inner, { maxKeys: 3 });
  const names = fc.array(propertyNames, { maxLength: 2 });
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(types, fc.array(types, { minLength: 1, maxLength: 3 })),
    const: value,
    enum: fc.array(value, { maxLength: 3 }),
    minimum: number,
    exclusiveMinimum: fc.oneof(number, fc.boolean()),
    minLength: count,
    pattern: patterns,
    maxItems: count,
    uniqueItems: fc.boolean(),
    prefixItems: several,
    items: fc.oneof(inner, several),
    additionalItems: inner,
    contains: inner,
    maxContains: count,
    unevaluatedItems: inner,
    required: names,
    properties: byName,
    patternProperties: fc.dictionary(patterns, inner, { maxKeys: 2 }),
    additionalProperties: inner,
    unevaluatedProperties: inner,
    propertyNames: inner,
    dependentRequired: fc.dictionary(propertyNames, names, { maxKeys: 2 }),
    dependentSchemas: byName,
    dependencies: fc.dictionary(propertyNames, fc.oneof(inner, names), { maxKeys: 2 }),
    allOf: several,
    anyOf: several,
    oneOf: several,
    not: inner,
    if: inner,
    then: inner,
    else: inner,
    $ref: references,
    $anchor: fc.constant('anchor'),
    $comment: fc.constant('remark'),
    title: fc.constantFrom<unknown>('title', 5),
    description: fc.constantFrom<unknown>('text', null),
    deprecated: fc.constantFrom<unknown>(true, 'yes'),
    default: value,
    examples: fc.oneof(value, fc.array(value, { maxLength: 2 })),
    nullable: fc.boolean(),
  };
  const entry = fc
    .constantFrom(...Object.entries(keywords))
    .chain(([keyword, arbitrary]) => arbitrary.map((chosen) => [keyword, chosen] as const));
  const object = fc
    .array(entry, { minLength: 1, maxLength: 4 })
    .map((entries) => Object.fromEntries(entries) as Record<string, unknown>);
  return {
    schema: fc.oneof(
      { maxDepth: 4 },
      { weight: 1, arbitrary: fc.boolean() },
      { weight: 6, arbitrary: object },
    ),
  };
});

const dialect = fc.constantFrom(
  {},
  { $schema: 'http://json-schema.org/draft-07/schema#' },
  { $schema: 'https://json-schema.org/draft/2020-12/schema' },
);
const definitions = fc.record(
  {
    $defs: fc.record({ a: innerSchema, b: innerSchema }),
    definitions: fc.record({ 'a b': innerSchema, 'c/d': innerSchema }),
    properties: fc.dictionary(propertyNames, innerSchema, { maxKeys: 4 }),
    required: fc.array(propertyNames, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

/** Parameters of a function: anything that strangers may serve, references and odd names among it. */
export const parameters: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(
    dialect,
    definitions,
    innerSchema,
    fc.constantFrom({}, { type: 'object' }, { type: ['object', 'null'] }),
  )
  .map(([draft, named, inner, type]) => ({
    ...draft,
    ...(typeof inner === 'object' && inner),
    ...named,
    ...type,
  }));
