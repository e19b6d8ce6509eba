import {
  remoteCallProgressSchema,
  remoteCallResultSchema,
  remoteCallSchema,
  type JsonObject,
} from '@remotes-hub/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  recogniseCall,
  recogniseProgress,
  recogniseResult,
} from '../../../server/src/actions/hot-messages.js';

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
const odd = fc.jsonValue({ maxDepth: 2 });

/** Mostly what the schema asks for, one in a few something else, and now and then nothing. */
function mostly(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 6, arbitrary }, { weight: 1, arbitrary: odd });
}

/** As it comes from a frame, an own `__proto__` among it. */
function message(action: string, fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> {
  return fc
    .record({ ...fields, unknown: odd, __proto__: odd }, { requiredKeys: [] })
    .map((value) => JSON.parse(JSON.stringify({ ...value, action })) as JsonObject);
}

const body = fc.record(
  {
    remotename: mostly(names),
    function: mostly(names),
    args: mostly(fc.dictionary(fc.string(), odd)),
    timeoutMs: mostly(timeouts),
    more: odd,
  },
  { requiredKeys: ['remotename', 'function'] },
);

test('a call is recognised exactly when its schema accepts it, with the same outcome', () => {
  let accepted = 0;
  fc.assert(
    fc.property(message('remote-call', { nonce: odd, body: mostly(body) }), (value) => {
      const parsed = remoteCallSchema.safeParse(value);
      if (parsed.success) accepted += 1;
      expect(recogniseCall(value)).toEqual(parsed.success ? parsed.data : undefined);
    }),
    { numRuns: 2_000 },
  );
  expect(accepted).toBeGreaterThan(200);
});

test('results and progress are recognised as their schemas read them', () => {
  const executed = mostly(fc.constantFrom('yes', 'no', 'unknown', 'maybe'));
  fc.assert(
    fc.property(
      message('remote-call-result', { requestId: odd, result: odd, error: odd, executed, nonce: odd }),
      message('remote-call-progress', { requestId: odd, progress: odd }),
      (result, progress) => {
        expect(recogniseResult(result)).toEqual(remoteCallResultSchema.parse(result));
        expect(recogniseProgress(progress)).toEqual(remoteCallProgressSchema.parse(progress));
      },
    ),
    { numRuns: 2_000 },
  );
});
