import { expect, test } from 'vitest';
import { compileSchema } from '../../../server/src/json-schema/schema.js';
import type { Outcome } from './attack.js';
import { outcomeOf, record, series } from './attack.js';

/** A text of `a` and `b` without a period, the same in every run. */
function mixed(length: number, seed = 1): string {
  let state = seed;
  let text = '';
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff;
    text += (state >> 16) & 1 ? 'a' : 'b';
  }
  return text;
}

const longText = 'x'.repeat(1 << 20);
const tooComplex = 'refused: the regular expressions of the schema are too complex';

const attacks: readonly (readonly [string, unknown, unknown, Outcome])[] = [
  ['K144: ^(a|a)*$ and 31 letters', { pattern: '^(a|a)*$' }, `${'a'.repeat(31)}b`, 'pattern'],
  ['K144: ^(a+)+$ and 30 letters', { pattern: '^(a+)+$' }, `${'a'.repeat(30)}!`, 'pattern'],
  ['^(a+)+$ and 200 000 letters', { pattern: '^(a+)+$' }, `${'a'.repeat(200_000)}b`, 'pattern'],
  [
    '^(a+)+$ as the name of patternProperties',
    { patternProperties: { '^(a+)+$': {} } },
    { [`${'a'.repeat(30)}b`]: 1 },
    'fits',
  ],
  [
    '^(a+)+$ over names of properties',
    { propertyNames: { pattern: '^(k|\\d+)+$' } },
    record(10_000, (i) => [`k${i}`, i]),
    'fits',
  ],
  ['an automaton with a state for each letter', { pattern: '(a|b)*a(a|b){300}$' }, mixed(100_000), 'budget'],
  ['a small automaton that explodes', { pattern: '(a|b)*a(a|b){14}$' }, mixed(100_000), 'budget'],
  [
    'an exploding automaton × many texts',
    { items: { pattern: '(a|b)*a(a|b){300}$|b$|a$' } },
    series(5000, (i) => mixed(400, i + 1)),
    'budget',
  ],
  ['a thousand optional letters', { pattern: String.raw`\b(a?){1000}\b$` }, 'a'.repeat(100_000), 'budget'],
  [
    'a Unicode class × distinct letters',
    { pattern: String.raw`\p{L}\p{N}\p{Lu}x` },
    series(200_000, (i) => String.fromCodePoint(0x4e00 + ((i * 7) % 20_000))).join(''),
    'pattern',
  ],
  [
    '300 alternatives in a loop',
    { pattern: `^(?:${series(300, (i) => `${String.fromCodePoint(0x4e00 + i * 3)}x`).join('|')})*$` },
    `${String.fromCodePoint(0x4e00 + 897)}x`.repeat(200_000),
    'fits',
  ],
  [
    'a literal text that is slow to search for',
    { pattern: `${'a'.repeat(450)}b${'a'.repeat(450)}` },
    'a'.repeat(1 << 20),
    'budget',
  ],
  [
    '100 patterns × a megabyte',
    { allOf: series(100, (i) => ({ not: { pattern: `(x+x+)+y${i}` } })) },
    longText,
    'budget',
  ],
  [
    'patternProperties × many names',
    { patternProperties: record(120, (i) => [`^(a|k)*${i}$`, {}]) },
    record(10_000, (i) => [`k${i}`, i]),
    'budget',
  ],
  ['many patterns', { allOf: series(800, (i) => ({ pattern: `^[a-z]{1,3}${i}$` })) }, '', tooComplex],
  ['repeats of repeats', { pattern: '((a{100}){100}){100}' }, '', tooComplex],
  ['repeats of nothing', { pattern: '(((){1000}){1000}){1000}' }, '', tooComplex],
  ['repeats side by side', { pattern: 'a{1000}'.repeat(10) }, '', tooComplex],
  ['a repeat that hides in a class of another syntax', { pattern: '(?i)[]a]{1000}{1000}' }, '', tooComplex],
  ['repeated Unicode classes', { pattern: String.raw`^(\p{L}\p{M}?){800}$` }, '', tooComplex],
  ['many Unicode classes', { pattern: String.raw`[\p{L}\P{N}]`.repeat(150) }, '', tooComplex],
  [
    'a pattern that is too long',
    { pattern: 'a'.repeat(2001) },
    '',
    'refused: the regular expression is longer than 2000 characters',
  ],
  ['500 groups inside one another', { pattern: `${'('.repeat(500)}a${')'.repeat(500)}` }, 'a', 'fits'],
];

test.each(attacks)('%s ends in 200 ms', (_title, schema, value, outcome) => {
  expect(outcomeOf(schema, value)).toBe(outcome);
});

test('a match that was stopped leaves the pattern usable', () => {
  const schema = compileSchema({ pattern: '(a|b)*a(a|b){20}$' });

  expect(schema.validate(mixed(100_000))?.keyword).toBe('budget');
  expect(schema.validate(`a${'b'.repeat(20)}`)).toBeUndefined();
  expect(schema.validate(`b${'b'.repeat(20)}`)?.keyword).toBe('pattern');
});
