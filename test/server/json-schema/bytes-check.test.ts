import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonBytes } from '../../../server/src/json/json-bytes.js';
import { compileSchema, type CompiledSchema } from '../../../server/src/json-schema/schema.js';
import { isSuitePresent, mandatoryFiles, suiteExamples, suiteNote } from './public-suite.js';

/** Whether the check of bytes vouches for a text, which is all of the value. */
function vouches({ bytes }: CompiledSchema, text: string): boolean {
  const end = bytes.read(new JsonBytes(Buffer.from(`${text},`)), 0, 0);
  if (end !== -1) expect(end).toBe(Buffer.byteLength(text));
  return end !== -1;
}

test.skipIf(!isSuitePresent)(
  `what the bytes are found to be right is right, all through the public suites${suiteNote}`,
  () => {
    let vouched = 0;
    let valid = 0;
    for (const draft of ['draft7', 'draft2020-12'] as const) {
      for (const { group, compiled, data } of suiteExamples(draft, mandatoryFiles(draft))) {
        if (compiled === undefined) continue;
        const isValid = compiled.validate(data) === undefined;
        const isVouchedFor = vouches(compiled, JSON.stringify(data));
        if (isVouchedFor) expect([group, data, isValid]).toEqual([group, data, true]);
        if (isVouchedFor) vouched += 1;
        if (isValid) valid += 1;
      }
    }
    expect(vouched / valid).toBeGreaterThan(0.98); // the rest are integers that are written as `1.0` and the like
  },
);

const names = fc.constantFrom('a', 'b', '__proto__', 'é', '');
const types = fc.constantFrom('null', 'boolean', 'number', 'integer', 'string', 'array', 'object');

const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.boolean(),
    fc.record(
      {
        type: fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 3 })),
        properties: fc
          .array(fc.tuple(names, tie('schema')), { maxLength: 3 })
          .map((entries) => Object.fromEntries(entries)),
        required: fc.uniqueArray(names, { maxLength: 2 }),
        additionalProperties: tie('schema'),
        items: tie('schema'),
        minItems: fc.constantFrom(0, 1),
        maxLength: fc.constantFrom(0, 2),
        title: fc.string({ maxLength: 3 }),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
  ),
}));

const space = fc.constantFrom('', '', '', ' ', '\n\t');

/** JSON as others may write it: with white space, escapes, names that come twice, numbers of every form. */
const { json } = fc.letrec<{ json: string }>((tie) => {
  const list = (items: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc
      .array(
        fc.tuple(space, items, space).map((parts) => parts.join('')),
        { maxLength: 4 },
      )
      .map((all) => all.join(','));
  const name = fc.oneof(
    names.map((text) => JSON.stringify(text)),
    fc.constantFrom(String.raw`"\u0061"`, String.raw`"a\""`),
  );
  const member = fc
    .tuple(name, space, space, tie('json'))
    .map(([key, before, after, value]) => `${key}${before}:${after}${value}`);
  return {
    json: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(
        'null',
        'true',
        'false',
        '0',
        '-0',
        '1.0',
        '1.5',
        '1e2',
        '12345678901234567890',
        '1e400',
      ),
      fc.constantFrom('""', '"a"', '"abc"', String.raw`"\u0061\n"`, '"é😀"'),
      list(tie('json')).map((items) => `[${items}]`),
      list(member).map((members) => `{${members}}`),
      list(member).map((members) => `{${members}}`),
    ),
  };
});

test('what the bytes are found to be right is right, however it is written', () => {
  let vouched = 0;
  fc.assert(
    fc.property(schema, fc.array(json, { minLength: 20, maxLength: 20 }), (each, texts) => {
      const compiled = compileSchema(each);
      for (const text of texts) {
        if (!vouches(compiled, text)) continue;
        vouched += 1;
        expect([each, text, compiled.validate(JSON.parse(text))]).toEqual([each, text, undefined]);
      }
    }),
    { numRuns: 1_000 },
  );
  expect(vouched).toBeGreaterThan(2_000);
});

test('bytes that are no JSON are never found right', () => {
  const compiled = compileSchema({
    type: 'object',
    properties: { a: { type: 'array', items: { type: 'object', required: ['b'] } }, c: { maxLength: 3 } },
    additionalProperties: { type: ['integer', 'string'] },
  });
  const good = '{"a":[{"b":1},{"b":[]}],"c":"x","d":12,"e":"f"}';
  expect(vouches(compiled, good)).toBe(true);
  for (let at = 0; at < good.length; at += 1) {
    for (const wrong of ['', ',', '"', '}', ']', '\\', '\u0001', 'x', '.']) {
      const text = good.slice(0, at) + wrong + good.slice(at + 1);
      const end = compiled.bytes.read(new JsonBytes(Buffer.from(text)), 0, 0);
      if (end === -1) continue;
      const value: unknown = JSON.parse(text.slice(0, end));
      expect([text, compiled.validate(value)]).toEqual([text, undefined]);
    }
  }
});
