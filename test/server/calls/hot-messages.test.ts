import { remoteCallProgressSchema, remoteCallResultSchema, remoteCallSchema } from '@remotes-hub/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type * as z from 'zod';
import {
  recogniseCall,
  recogniseProgress,
  recogniseResult,
} from '../../../server/src/actions/hot-messages.js';
import { JsonText } from '../../../server/src/json/json-text.js';
import { MessageText } from '../../../server/src/json/message-text.js';
import { readBySchema } from './schema-reading.js';

const names = fc.oneof(
  fc.constantFrom(
    '',
    'x',
    'x'.repeat(128),
    'x'.repeat(129),
    '\u{1F600}'.repeat(64),
    '\u{1F600}'.repeat(65),
    '#',
  ),
  fc.string(),
);
const timeouts = fc.oneof(
  fc.constantFrom(0, 1, 600_000, 600_001, 1.5, -1, 1e300, 2 ** 53, -0),
  fc.integer({ min: -10, max: 700_000 }),
);
const hex = (length: number): fc.Arbitrary<string> =>
  fc.string({
    unit: fc.constantFrom(...Array.from('0123456789abcdef')),
    minLength: length,
    maxLength: length,
  });
const traceparents = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(fc.constant('00'), hex(32), hex(16), hex(2)).map((parts) => parts.join('-')),
  },
  fc.constantFrom(
    '',
    '00',
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`,
    '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01',
    '01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more',
  ),
);
const tracestates = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('vendor=1', 'a=1,b=2', 'a=1, b=~', 'x'.repeat(300)) },
  fc.constantFrom('', 'a="1"', 'a=\u00e9', 'a\t', 'x'.repeat(512), 'x'.repeat(513)),
);
const odd = fc.jsonValue({ maxDepth: 2 });

/** Mostly what the schema asks for, one in a few something else, and now and then nothing. */
function mostly(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 6, arbitrary }, { weight: 1, arbitrary: odd });
}

/** As the text of a frame: written in any order and spacing, some names escaped, some members twice, some broken. */
function frame(action: string, fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<string> {
  const member = (name: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
    fc
      .tuple(value, fc.constantFrom('', '', '', ' ', '\n'))
      .map(([json, space]) => `"${name}"${space}:${space}${write(json)}`);
  const known = Object.entries(fields).map(([name, value]) =>
    fc.option(member(name, value), { nil: '', freq: 6 }),
  );
  const extra = fc.oneof(
    { weight: 40, arbitrary: fc.constant('') },
    member('unknown', odd),
    member('__proto__', odd),
    ...Object.entries(fields).map(([name, value]) => member(name, value)),
    fc.constantFrom('"nonce":[', '"a":tru', 'a', '"result":01', '"\\u0061ction":"ping"', '"nonce":"\t"'),
  );
  const end = fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom('}', ' }\n') },
    fc.constantFrom('', '}}', '},', '}\u00a0'),
  );
  return fc.tuple(fc.tuple(...known), extra, end, fc.boolean()).map(([members, more, close, isFirst]) => {
    const all = [`"action":${JSON.stringify(action)}`, ...members].filter((text) => text !== '');
    if (more !== '') all.splice(isFirst ? 0 : all.length, 0, more);
    return `{${all.join(',')}${close}`;
  });
}

/** A value as JSON; a text that is marked as such is JSON already. */
function write(value: unknown): string {
  return value instanceof JsonText ? value.text : JSON.stringify(value);
}

const nonces = mostly(
  fc.oneof(
    fc.string({ maxLength: 70 }),
    fc.integer(),
    fc.constantFrom(new JsonText('1.0'), new JsonText('-0')),
  ),
);

const body = fc
  .record(
    {
      remotename: mostly(names),
      function: mostly(names),
      args: mostly(fc.dictionary(fc.string(), odd)),
      timeoutMs: mostly(timeouts),
      traceparent: mostly(traceparents),
      tracestate: mostly(tracestates),
      more: fc.constant(undefined),
    },
    { requiredKeys: ['remotename', 'function'] },
  )
  .map((value) => new JsonText(JSON.stringify(value)));

/** What is recognised must be what the schema reads. @returns how often anything was recognised */
function compare<M extends object>(
  frames: fc.Arbitrary<string>,
  schema: z.ZodType<M>,
  recognise: (message: MessageText) => M | undefined,
): number {
  let count = 0;
  fc.assert(
    fc.property(frames, (text) => {
      const expected = readBySchema(text, schema);
      const message = MessageText.read(Buffer.from(text));
      const recognised = message?.isWellFormed ? recognise(message) : undefined;
      if (recognised === undefined) return;
      count += 1;
      expect(recognised).toEqual(expected);
    }),
    { numRuns: 8_000 },
  );
  return count;
}

test('a call is recognised only when its schema accepts it, with the same outcome', () => {
  const calls = frame('remote-call', { nonce: nonces, body: mostly(body) });
  expect(compare(calls, remoteCallSchema, recogniseCall)).toBeGreaterThan(200);
});

test('results and progress are recognised as their schemas read them', () => {
  const requestId = mostly(fc.oneof(names, fc.constant('weather#12')));
  const executed = mostly(fc.constantFrom('yes', 'no', 'unknown', 'maybe'));
  const results = frame('remote-call-result', { requestId, result: odd, error: odd, executed });
  const progress = frame('remote-call-progress', { requestId, progress: odd });
  expect(compare(results, remoteCallResultSchema, recogniseResult)).toBeGreaterThan(200);
  expect(compare(progress, remoteCallProgressSchema, recogniseProgress)).toBeGreaterThan(200);
});

test.each([
  ['{"action":"remote-call","nonce":1,"body":{"remotename":"weather","function":"now","args":{}}}', true],
  [
    '{"action":"remote-call","nonce":"n1","body":{"remotename":"weather","function":"now","args":{"a":[1]}}}',
    true,
  ],
  [
    '{"action":"remote-call","body":{"remotename":"w","function":"f","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","tracestate":"a=1"}}',
    true,
  ],
  ['{"action":"remote-call","body":{"remotename":"w","function":"f","traceparent":"00"}}', false],
  [' {"body":{"function":"now","remotename":"w#"},"action":"remote-call"} ', true],
  ['{"action":"remote-call","body":{"remotename":"w","function":"f","args":{"a":01}}}', false],
  ['{"action":"remote-call","body":{"remotename":"w","function":"f"},"body":{}}', false],
  ['{"action":"remote-call","nonce":[1],"body":{"remotename":"w","function":"f"}}', false],
])('%s: recognised %s', (text, isRecognised) => {
  const message = MessageText.read(Buffer.from(text));
  const call = message?.isWellFormed ? recogniseCall(message) : undefined;
  expect(call !== undefined).toBe(isRecognised);
});
