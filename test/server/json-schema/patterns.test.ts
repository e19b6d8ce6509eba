import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileSchema } from '../../../server/src/json-schema/schema.js';

function matches(pattern: string, text: string): boolean {
  const schema = compileSchema({ pattern });
  expect(schema.unenforcedPatterns).toEqual([]);
  return schema.validate(text) === undefined;
}

const pieces = [
  ...[
    'a',
    'b',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '.',
    '[ab]',
    '[^a]',
    '[a-c]',
    '[\\w.-]',
    '[^\\s]',
    '[\\S\\d]',
  ],
  ...[
    '\\.',
    '\\/',
    '\\u0041',
    '\\x41',
    '\\t',
    '\\cA',
    '[\\b]',
    '\\b',
    '^',
    '$',
    '[^]',
    '[]',
    'é',
    '😀',
    '[😀-😂]',
  ],
  ...[
    '\\u{1F600}',
    '\\ud83d\\ude00',
    'a{2}',
    'b{1,3}?',
    'a{0,}',
    '(?:ab|c)',
    '(a|b)',
    '|',
    '\\0',
    '[\\]]',
    '[[a]',
  ],
  ...['\\p{L}', '\\P{Letter}', '[\\p{Lu}\\d]', '\\p{Script=Greek}', '(?:a|)*', 'x*', '(?:ab)+', '-', ','],
];
const letters = [
  'a',
  'b',
  'c',
  'A',
  '1',
  '-',
  '.',
  '_',
  ' ',
  '\n',
  '\r',
  '\u2028',
  '\u00a0',
  '\ufeff',
  'é',
  '😀',
  '😁',
  ']',
  '[',
  'x',
  '\\',
  '\0',
  '\u0001',
  '\b',
  'Ω',
  '/',
  ',',
];

// Not \B: the native engine looks for it inside of surrogate pairs too.
test('patterns match what ECMAScript matches with the u flag', () => {
  const pattern = fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join(''));
  const text = fc.array(fc.constantFrom(...letters), { maxLength: 5 }).map((parts) => parts.join(''));

  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 3, maxLength: 6 }), (source, texts) => {
      const native = new RegExp(source, 'u');
      expect(texts.map((each) => matches(source, each))).toEqual(texts.map((each) => native.test(each)));
    }),
    { numRuns: 500, seed: 20_260_822 },
  );
});

test.each([
  ['[\\w-.]+x', 'a-.x'], // valid only without the u flag
  ['^\\-$', '-'],
  ['^{a}$', '{a}'],
  ['^a{,2}$', 'a{,2}'],
  ['^\\_\\q$', '_q'],
  ['^[a-\\d]$', '-'],
  ['(?i)^abc$', 'ABC'], // not ECMAScript at all, but known to RE2
  ['^(?P<year>\\d{4})$', '2026'],
])('pattern %s is understood leniently', (pattern, text) => {
  expect(matches(pattern, text)).toBe(true);
  expect(matches(pattern, '')).toBe(false);
});

const zodEmail =
  "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$";

test.each([zodEmail, '(?<=a)b', '(a)\\1', '(?<n>a)\\k<n>', 'a{1001}', '\\p{Script_Extensions=Greek}'])(
  'pattern %s is accepted, listed and not enforced',
  (pattern) => {
    const schema = compileSchema({
      properties: { a: { pattern }, b: { patternProperties: { [pattern]: false } } },
    });

    expect(schema.unenforcedPatterns).toHaveLength(2);
    expect(schema.unenforcedPatterns[0]).toBe('/properties/a/pattern');
    expect(schema.validate({ a: '!', b: { '!': 1 } })).toBeUndefined();
  },
);

test('what follows from an unenforced pattern refuses nothing', () => {
  const unknown = { pattern: '(?=x)x' };
  const allowed: readonly unknown[] = [
    { not: unknown },
    { oneOf: [unknown, { type: 'string' }] },
    { if: unknown, then: false },
    { if: { not: unknown }, else: false },
    { not: { anyOf: [unknown] } },
  ];

  for (const schema of allowed) expect(compileSchema(schema).validate('a')).toBeUndefined();
  expect(compileSchema({ contains: unknown, maxContains: 1 }).validate(['a', 'b'])).toBeUndefined();
  expect(
    compileSchema({ patternProperties: { '(?=x)x': {} }, additionalProperties: false }).validate({ a: 1 }),
  ).toBeUndefined();
});

test('the rest of a schema with an unenforced pattern is enforced', () => {
  const unknown = { type: 'string', pattern: '(?=x)x', minLength: 2 };

  expect(compileSchema(unknown).validate('a')?.keyword).toBe('minLength');
  expect(compileSchema({ not: unknown }).validate(5)).toBeUndefined();
  expect(compileSchema({ not: { type: 'number', not: unknown } }).validate(5)?.keyword).toBe('not');
  expect(compileSchema({ oneOf: [unknown, { const: 'ab' }, { maxLength: 2 }] }).validate('ab')?.keyword).toBe(
    'oneOf',
  );
});
