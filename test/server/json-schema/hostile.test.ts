import { expect, test } from 'vitest';
import type { Outcome } from './attack.js';
import { nested, outcomeOf, record, series } from './attack.js';

/** 22 levels, each of which applies the one below twice: four million applications. */
function bomb(double: (reference: { $ref: string }) => unknown): unknown {
  const levels = record(22, (level) => [`d${level + 1}`, double({ $ref: `#/$defs/d${level}` })]);
  return { $ref: '#/$defs/d22', $defs: { d0: { type: 'string' }, ...levels } };
}

const wideObject = record(10_000, (index) => [`k${index}`, index]);
const objects = series(10_000, (index) => ({ id: index, name: `n${index}`, ok: true, tags: ['a', 'b'] }));
const longText = 'x'.repeat(1 << 20);
const deepArray = nested(10_000, (inner) => [inner], []);

const attacks: readonly (readonly [string, unknown, unknown, Outcome])[] = [
  ['a 22-level allOf bomb', bomb((part) => ({ allOf: [part, part] })), 'x', 'budget'],
  ['a 22-level anyOf bomb', bomb((part) => ({ anyOf: [part, part] })), 1, 'budget'],
  ['a 22-level oneOf bomb', bomb((part) => ({ oneOf: [part, part, false] })), 'x', 'budget'],
  ['a 22-level if bomb', bomb((part) => ({ if: part, then: part, else: part })), 'x', 'budget'],
  [
    'a 5000-deep schema',
    nested(5000, (items) => ({ items }), {}),
    1,
    'refused: the schema is nested deeper than 64 levels',
  ],
  [
    'a 200 000-deep schema',
    nested(200_000, (items) => ({ items }), {}),
    1,
    'refused: the schema is nested deeper than 64 levels',
  ],
  [
    'a schema of 20 000 values',
    { enum: series(20_000, String) },
    1,
    'refused: the schema is made of more than 10000 values',
  ],
  ['a schema of a megabyte', { title: longText }, 1, 'refused: the schema is longer than 262144 characters'],
  [
    'a value 10 000 deep',
    { $defs: { n: { items: { $ref: '#/$defs/n' } } }, $ref: '#/$defs/n' },
    deepArray,
    'depth',
  ],
  ['equal values 10 000 deep', { uniqueItems: true }, [deepArray, deepArray], 'depth'],
  ['a deep value against a constant', { const: [[]] }, deepArray, 'depth'],
  ['K149: a chain of 3000 references', chainOfReferences(3000), 1, 'depth'],
  [
    'uniqueItems on 20 000 objects',
    { uniqueItems: true },
    series(20_000, (index) => ({ index, b: 'x' })),
    'fits',
  ],
  [
    'uniqueItems on colliding numbers',
    { uniqueItems: true },
    series(30_000, (index) => index * 65_536),
    'fits',
  ],
  [
    'uniqueItems many times',
    { allOf: series(1000, () => ({ uniqueItems: true })) },
    series(20_000, Number),
    'budget',
  ],
  [
    'uniqueItems on long texts many times',
    { allOf: series(300, () => ({ uniqueItems: true })) },
    series(5, (index) => '\u0001'.repeat(200_000) + String(index)),
    'budget',
  ],
  [
    'a huge enum × many items',
    { items: { enum: series(9000, (index) => index * 65_536) } },
    [...series(50_000, () => 65_536), 1],
    'enum',
  ],
  [
    'many constants × a long text',
    { allOf: series(1000, () => ({ not: { const: [1] } })) },
    [longText],
    'budget',
  ],
  [
    'wide anyOf × many items',
    { items: { anyOf: series(3000, (index) => ({ const: -index })) } },
    objects,
    'const',
  ],
  [
    'wide oneOf × many items that fit late',
    { items: { oneOf: series(1000, (index) => ({ const: index })) } },
    series(50_000, () => 999),
    'budget',
  ],
  [
    'many properties × many items',
    { items: { properties: record(4000, (i) => [`q${i}`, true]) } },
    objects,
    'budget',
  ],
  [
    'many dependencies × many items',
    { items: { dependentSchemas: record(4000, (i) => [`q${i}`, true]) } },
    objects,
    'budget',
  ],
  [
    'contains many times',
    { allOf: series(500, () => ({ contains: { const: 1.5 }, minContains: 0 })) },
    series(50_000, Number),
    'budget',
  ],
  [
    'lengths counted many times',
    { allOf: series(900, (i) => ({ maxLength: 700_000 + i })) },
    '😀x'.repeat(350_000),
    'budget',
  ],
  [
    'exact division of far exponents',
    { items: { multipleOf: 1e-300 } },
    series(20_000, (i) => 1e300 * (i + 1)),
    'budget',
  ],
];

function chainOfReferences(length: number): unknown {
  const links = record(length, (index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]);
  return { $ref: '#/$defs/d0', $defs: { ...links, [`d${length}`]: {} } };
}

test.each(attacks)('SCHEMA-06: %s ends in 200 ms', (_title, schema, value, outcome) => {
  expect(outcomeOf(schema, value)).toBe(outcome);
});

const unevaluatedAttacks: readonly (readonly [string, unknown, Outcome])[] = [
  ['many', { allOf: series(500, () => ({ unevaluatedProperties: { type: 'number' } })) }, 'budget'],
  [
    'nested',
    nested(20, (part) => ({ unevaluatedProperties: false, allOf: [part] }), {
      patternProperties: { '^k': true },
    }),
    'fits',
  ],
  [
    'over branches that mark all',
    {
      unevaluatedProperties: false,
      anyOf: series(300, () => ({ additionalProperties: { type: 'number' } })),
    },
    'budget',
  ],
  [
    'over branches that mark and fail',
    {
      unevaluatedProperties: true,
      anyOf: series(200, () => ({ additionalProperties: { type: 'number' }, not: {} })),
    },
    'budget',
  ],
];

test.each(unevaluatedAttacks)(
  'SCHEMA-06: unevaluatedProperties, %s, on a wide object end in 200 ms',
  (_title, schema, outcome) => {
    expect(outcomeOf(schema, wideObject)).toBe(outcome);
  },
);

const dynamicLoops: readonly (readonly [string, unknown])[] = [
  ['allOf', { $dynamicAnchor: 'n', allOf: [{ $dynamicRef: '#n' }] }],
  ['anyOf', { $dynamicAnchor: 'n', anyOf: [{ $dynamicRef: '#n' }, { $dynamicRef: '#n' }] }],
  ['not', { $dynamicAnchor: 'n', not: { anyOf: [{ $dynamicRef: '#n' }, { $dynamicRef: '#n' }] } }],
];

test.each(dynamicLoops)(
  'K149: a $dynamicRef that leads to itself through %s ends as too deep',
  (_keyword, schema) => {
    expect(outcomeOf(schema, 1)).toBe('depth');
  },
);

test('a long dynamic scope × many items ends in 200 ms', () => {
  const resources = record(120, (index) => [
    `d${index}`,
    {
      $id: `r${index}`,
      ...(index < 119 ? { $ref: `r${index + 1}` } : { $dynamicAnchor: 'q', items: { $dynamicRef: '#q' } }),
    },
  ]);
  expect(outcomeOf({ $ref: 'r0', $defs: resources }, series(50_000, Number))).toBe('budget');
});
