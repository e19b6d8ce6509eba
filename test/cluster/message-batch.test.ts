import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readBatch, writeBatch, EncodedMessage } from '../../server/src/cluster/message-batch.js';
import type { NodeMessage } from '../../server/src/cluster/node-messages.js';
import { JsonText } from '../../server/src/json/json-text.js';

/** A body from this length on stays bytes. */
const LONG = 32_768;

const sender = fc.uuid();
const head = fc
  .tuple(fc.string(), fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 5 }))
  .map(([kind, fields]): readonly unknown[] => JSON.parse(JSON.stringify([kind, ...fields])) as unknown[]);
const text = fc.oneof(
  fc.json({ maxDepth: 2 }),
  fc.string({ unit: 'binary', minLength: 1 }).map((content) => JSON.stringify(content)),
  fc.constantFrom('{}', '0', '-0', '1e400', ' [ ] \n', '"\\ud800"', `"${'é😀'.repeat(20)}"`),
);
const longText = fc
  .tuple(fc.constantFrom('x', 'é', '😀', '\u2028'), fc.nat(40))
  .map(([filling, more]) => `"${filling.repeat(LONG - 20 + more)}"`);
const body = fc.option(
  fc.oneof(
    { arbitrary: text.map((json) => new JsonText(json)), weight: 6 },
    { arbitrary: text.map((json) => new JsonText(Buffer.from(json))), weight: 3 },
    { arbitrary: longText.map((json) => new JsonText(json)), weight: 1 },
    { arbitrary: longText.map((json) => new JsonText(Buffer.from(json))), weight: 1 },
  ),
  { nil: undefined },
);
const messages = fc.array(fc.record<NodeMessage>({ head, body }), { maxLength: 6 });

function written(from: string, all: readonly NodeMessage[]): Buffer {
  return writeBatch(
    from,
    all.map((message) => new EncodedMessage(message)),
  );
}

/** What can be compared of messages. */
function plain(all: readonly NodeMessage[] | undefined) {
  return all?.map((message) => ({ head: message.head, body: message.body?.text }));
}

test('CLUSTER-06: a batch is read as it was written: sender, heads, and bodies of every kind and length', () => {
  fc.assert(
    fc.property(sender, messages, (from, all) => {
      const read = readBatch(written(from, all));
      expect(read?.sender).toBe(from);
      expect(plain(read?.messages)).toEqual(plain(all));
    }),
    { numRuns: 150 },
  );
});

test.each([LONG - 1, LONG, LONG + 1, 1024 * 1024])(
  'CLUSTER-06: a body of %i bytes is read as it was written, and stays bytes when it is long',
  (length) => {
    const json = `"${'x'.repeat(length - 2)}"`;
    for (const result of [new JsonText(json), new JsonText(Buffer.from(json))]) {
      const read = readBatch(written('a', [{ head: ['result', 1], body: result }]));
      expect(read?.messages[0]?.body?.text === json).toBe(true);
      expect(read?.messages[0]?.body?.bytes !== undefined).toBe(length >= LONG);
    }
  },
);

test('CLUSTER-06: an empty batch is one, without messages', () => {
  expect(readBatch(written('a', []))).toEqual({ sender: 'a', messages: [] });
});

test('CLUSTER-06: a batch that was cut off, changed or made up is read as none or as another, and never throws', () => {
  const isWhole = (read: ReturnType<typeof readBatch>): boolean =>
    read === undefined || read.messages.every((message) => Array.isArray(message.head));
  fc.assert(
    fc.property(
      sender,
      messages,
      fc.nat(),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
      (from, all, cut, changes) => {
        const batch = written(from, all);
        const changed = Buffer.from(batch);
        for (const [place, byte] of changes) changed[place % changed.length] = byte;
        expect(isWhole(readBatch(changed))).toBe(true);
        expect(isWhole(readBatch(batch.subarray(0, cut % batch.length)))).toBe(true);
      },
    ),
    { numRuns: 150 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.boolean(), (bytes, isOfThisForm) => {
      const batch = Buffer.from(isOfThisForm ? [1, 4, ...bytes] : bytes);
      expect(isWhole(readBatch(batch))).toBe(true);
    }),
  );
});

test('CLUSTER-06: a message that was cut off anywhere is none', () => {
  const batch = written('node', [{ head: ['result', 7], body: new JsonText('{"a":1}') }]);
  const start = 2 + 'node'.length;
  for (let length = start + 1; length < batch.length; length += 1) {
    expect(readBatch(batch.subarray(0, length))).toBeUndefined();
  }
});

test('CLUSTER-06: a batch of another form is none', () => {
  const batch = written('node', [{ head: ['result', 7] }]);
  for (const form of [0, 2, 123, 255]) {
    batch[0] = form;
    expect(readBatch(batch)).toBeUndefined();
  }
});
