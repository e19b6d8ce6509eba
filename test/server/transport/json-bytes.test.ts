import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonBytes } from '../../../server/src/json/json-bytes.js';
import { isJson } from '../../support/json.js';

/** Whether the bytes are one JSON value, with white space around. */
function isWhole(text: string): boolean {
  const bytes = Buffer.from(text);
  const json = new JsonBytes(bytes);
  const end = json.value(json.space(0), 0);
  return end !== -1 && json.space(end) === bytes.length;
}

// `JSON.parse` is the judge: what a caller is sent must be JSON to its parser

test('values of every kind, and what JSON is not, are told apart as JSON.parse does', () => {
  const numbers = [
    '0',
    '-0',
    '01',
    '-',
    '+1',
    '1.',
    '.1',
    '1.0',
    '1e',
    '1e+',
    '1E-05',
    '1e5.',
    '-1.5e+300',
    '00',
    '0x1',
    '1e400',
    'Infinity',
    'NaN',
    '-Infinity',
    '1_0',
    '\uff11',
  ];
  const strings = [
    '""',
    '"',
    '"\\',
    '"\\"',
    '"\\q"',
    '"\\u12"',
    '"\\u12g4"',
    '"\\uDEAD"',
    '"\\u00e9"',
    '"\t"',
    '"\u007f"',
    '"\u2028é😀"',
    '"\\/\\b\\f\\n\\r\\t\\\\"',
    "'a'",
    '"a" "b"',
    '"\0"',
    '"\u001f"',
    '"\\U0041"',
  ];
  const literals = [
    'true',
    'tru',
    'truee',
    'True',
    'false',
    'fals',
    'null',
    'nul',
    'nulL',
    'undefined',
    't',
    'n1',
  ];
  const containers = [
    '[]',
    '[ ]',
    '[,]',
    '[1,]',
    '[1 2]',
    '[1,,2]',
    '[',
    ']',
    '[}',
    '{}',
    '{ }',
    '{,}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a" 1}',
    '{a:1}',
    '{"a":1 "b":2}',
    '{1:2}',
    '{"a":1}}',
    '[[[]]]',
    '[[]',
    '{"a":{"a":{}}}',
    '{"a":[}]',
    '{"a":[{"b":[1,{"c":null}]}]}',
    '{"":""}',
    '{"a":1,"a":2}',
    '[1]x',
  ];
  const spaces = [
    '',
    ' ',
    '\n1\t',
    '\u00a01',
    '\ufeff1',
    '1\u2028',
    '\v1',
    '\f1',
    ' \r\n[ \t1 , \n2 ] ',
    '1 2',
    '/**/1',
    '1//',
  ];
  for (const text of [...numbers, ...strings, ...literals, ...containers, ...spaces]) {
    expect([text, isWhole(text)]).toEqual([text, isJson(text)]);
    const nested = `{"a":[${text}],"b":${text}}`;
    expect([nested, isWhole(nested)]).toEqual([nested, isJson(nested)]);
  }
});

test('JSON that was changed at one place is told apart as JSON.parse does', () => {
  const piece = fc.oneof(
    fc.constantFrom(...Array.from('{}[]":,\\ 0123456789-+.eEtrufalsn/\n\t\0\u001f\u007f\u00e9')),
    fc.constantFrom('\\u', '\\u00', 'true', 'null', '""', '{}', '[]', '1.', '😀'),
    fc.string({ unit: 'binary', maxLength: 2 }),
  );
  fc.assert(
    fc.property(
      fc.json({ maxDepth: 4 }),
      fc.boolean(),
      fc.nat(),
      fc.nat(2),
      piece,
      (json, isSpaced, at, cut, added) => {
        const text = isSpaced ? JSON.stringify(JSON.parse(json), null, 1) : json;
        expect(isWhole(text)).toBe(true);
        const place = at % (text.length + 1);
        const changed = Buffer.from(text.slice(0, place) + added + text.slice(place + cut)).toString();
        expect([changed, isWhole(changed)]).toEqual([changed, isJson(changed)]);
      },
    ),
    { numRuns: 5_000 },
  );
});

test('long strings are told apart as JSON.parse does, wherever in them something stands', () => {
  const pieces = [
    '\\\\',
    '\\"',
    '\\u00e9',
    '\\u00',
    '\\x',
    '\t',
    '\u001f',
    'é😀',
    '"',
    '\\',
    '\\\\\\',
    '\u007f',
  ];
  for (const piece of pieces)
    for (const before of [0, 510, 511, 512, 513, 1_500])
      for (const after of [0, 1, 600]) {
        const text = `["${'x'.repeat(before)}${piece}${'y'.repeat(after)}",1]`;
        expect([text, isWhole(text)]).toEqual([text, isJson(text)]);
      }
  expect(isWhole(`"${'x'.repeat(2_000)}`)).toBe(false);
  expect(isWhole(`"${'\\"'.repeat(2_000)}"`)).toBe(true);
  expect(isWhole(`"${`${'x'.repeat(600)}\\"`.repeat(50)}"`)).toBe(true);
});

test('a byte that ends a long string, or may not be in it, is found wherever it stands in memory', () => {
  const memory = Buffer.alloc(400);
  for (let offset = 0; offset < 4; offset += 1)
    for (let place = 60; place < 90; place += 1)
      for (const [special, end] of [
        [0x22, place + 1],
        [0x1f, -1],
        [0x00, -1],
        [0x5c, -1], // before an x
      ] as const) {
        memory.fill('x').fill('\u00e9', 100);
        const bytes = memory.subarray(offset);
        bytes[0] = 0x22;
        bytes[place] = special;
        expect([offset, place, special, new JsonBytes(bytes).value(0, 0)]).toEqual([
          offset,
          place,
          special,
          end,
        ]);
      }
});

test('strings that are made to be slow take time in proportion to their length', () => {
  const texts = ['\\"', '\\\\', `${'x'.repeat(513)}\\"`, 'x', '\\u0041'].flatMap((piece) => {
    const content = piece.repeat(3_000_000 / piece.length);
    return [`"${content}"`, `"${content}`, `"${content}\\"`];
  });
  for (const text of texts) {
    const started = performance.now();
    isWhole(text);
    expect(performance.now() - started).toBeLessThan(1_000);
  }
});

test('the place after a value is where it ends, whatever follows', () => {
  for (const value of ['1', '-1.5e3', '"a\\"]"', 'true', 'null', '[1,[2]]', '{"a":{"b":[]}}']) {
    for (const rest of ['', ',', ' ,1', ']', '}', ' x']) {
      const json = new JsonBytes(Buffer.from(`[${value}${rest}`));
      expect(json.value(1, 1)).toBe(1 + value.length);
    }
  }
});

test('nesting beyond all use is not followed, and the deepest that is counts', () => {
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  const json = new JsonBytes(Buffer.from(deep(1_024)));
  expect(json.value(0, 0)).toBe(2_048);
  expect(json.depth).toBe(1_024);
  expect(new JsonBytes(Buffer.from(deep(1_025))).value(0, 0)).toBe(-1);
  expect(new JsonBytes(Buffer.from(deep(1_024))).value(0, 1)).toBe(-1);
});
