import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findSyntaxProblem } from '../../../server/src/config/json-syntax.js';
import { isJson } from '../../support/json.js';

test.each([
  ['{"a" 1}', 1, 6, 'expected ":"'],
  ['{"a": 1 "b": 2}', 1, 9, 'expected "," or "}"'],
  ['{a: 1}', 1, 2, 'expected a name in double quotes'],
  ['[1, 2', 1, 6, 'expected "," or "]", but the text ends here'],
  ['{\n\t"a": 01\n}', 2, 7, 'expected a value'],
  ['{"a": nul}', 1, 7, 'expected a value'],
  ['{"a": True}', 1, 7, 'expected a value'],
  ['{"a": "x\ny"}', 1, 9, 'the string is not closed'],
  ['{"a": "x\ty"}', 1, 9, 'a control character in a string'],
  ['{"a": "\\x"}', 1, 8, 'unknown escape in a string'],
  ['{"a": 1} 2', 1, 10, 'expected nothing after the value'],
  ['{ // port\n}', 1, 3, 'JSON has no comments'],
  ['[1,]', 1, 4, 'no comma may stand before "]"'],
  ['['.repeat(300), 1, 201, 'nested deeper than 200'],
])('%j: the first wrong place is found', (text, line, column, message) => {
  expect(findSyntaxProblem(text)).toEqual({ line, column, message });
});

test('it finds something wrong exactly where JSON.parse does', () => {
  const damaged = fc
    .tuple(
      fc.json({ maxDepth: 4 }),
      fc.nat(),
      fc.constantFrom('', ',', '"', '}', ']', '0', '-', '\\', 'e', ':', ' ', '\u0001'),
    )
    .map(([text, place, piece]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + piece + text.slice(at + (piece === '' ? 1 : 0));
    });
  fc.assert(
    fc.property(damaged, (text) => {
      expect(findSyntaxProblem(text) === undefined).toBe(isJson(text));
    }),
    { numRuns: 2_000 },
  );
});

test('a long string that is never closed is no burden', () => {
  expect(findSyntaxProblem(`["${'x'.repeat(4_000_000)}`)?.message).toBe('the string is not closed');
});
