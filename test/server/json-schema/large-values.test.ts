import { expect, test } from 'vitest';
import { outcomeOf, record, series } from './attack.js';

const objects = series(10_000, (index) => ({ id: index, name: `n${index}`, ok: true, tags: ['a', 'b'] }));
const longText = 'x'.repeat(1 << 20);

const large: readonly (readonly [string, unknown, unknown])[] = [
  ['50 000 numbers', { type: 'array', items: { type: 'number' } }, series(50_000, Number)],
  [
    '10 000 small objects',
    {
      items: {
        type: 'object',
        properties: {
          id: { type: 'integer' },
          name: { type: 'string', maxLength: 9 },
          tags: { items: { type: 'string' } },
        },
        required: ['id'],
      },
    },
    objects,
  ],
  [
    'a text of a megabyte with a pattern',
    { pattern: '^[A-Za-z0-9+/]*={0,2}$', minLength: 1, maxLength: 1 << 20 },
    longText,
  ],
  [
    'an object of 50 000 properties',
    { additionalProperties: { type: 'number' } },
    record(50_000, (i) => [`k${i}`, i]),
  ],
  [
    '20 000 e-mail addresses',
    { items: { pattern: String.raw`^[\w.+-]+@[a-z\d.-]+\.[a-z]{2,}$` } },
    series(20_000, (i) => `ann.lee${i}@example.com`),
  ],
];

test.each(large)('%s still pass', (_title, schema, value) => {
  expect(outcomeOf(schema, value)).toBe('fits');
});
