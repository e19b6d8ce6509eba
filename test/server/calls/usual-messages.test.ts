import { remoteCallResultSchema, remoteCallSchema } from '@remotes-hub/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readUsual } from '../../../server/src/actions/usual-messages.js';
import type { JsonBytes } from '../../../server/src/json/json-bytes.js';
import { MessageText } from '../../../server/src/json/message-text.js';
import type { FindArgumentsReader, ValueReader } from '../../../server/src/json/value-reader.js';
import { garbageCollector } from '../../support/garbage.js';
import { LoggedIn } from '../../client-sdk/scripted-hub.js';
import { readBySchema } from './schema-reading.js';

const schemas = { 'remote-call': remoteCallSchema, 'remote-call-result': remoteCallResultSchema };

/** Vouches for arguments of some functions that are objects of one member or none, and for no others. */
const reader: ValueReader = {
  read: (json: JsonBytes, start, outerDepth) => {
    const end = json.value(start, outerDepth);
    return end === -1 || json.text(start, end).includes(',') ? -1 : end;
  },
};
const findReader: FindArgumentsReader = (_remotename, functionName) =>
  functionName.length % 2 === 0 ? reader : undefined;

const strings = fc.oneof(
  fc.string({ maxLength: 70 }),
  fc.constantFrom(
    '',
    'weather#12',
    'now',
    'Zürich',
    '日本',
    '\u{1F600}',
    'a"b',
    'a\\',
    '\t',
    'x'.repeat(129),
  ),
);
const values = fc.jsonValue({ maxDepth: 3 });
const texts = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  arbitrary.map((value) => JSON.stringify(value));
const timeouts = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  fc.constantFrom(0, 1, 600_000, 600_001, 999_999, 1_000_000, 1.5, -1, '1').map((ms) => `,"timeoutMs":${ms}`),
);
const calls = fc
  .tuple(
    texts(fc.oneof(strings, fc.integer(), values)),
    texts(strings),
    texts(strings),
    timeouts,
    texts(values),
  )
  .map(
    ([nonce, remotename, name, timeout, args]) =>
      `{"action":"remote-call","nonce":${nonce},"body":{"remotename":${remotename},"function":${name}${timeout},"args":${args}}}`,
  );
const results = fc
  .tuple(texts(strings), texts(values))
  .map(([id, result]) => `{"action":"remote-call-result","requestId":${id},"result":${result}}`);

/** Some as they are, some with a piece taken out, put in or said twice. */
function changed(frames: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const pieces = fc.constantFrom(
    '',
    '',
    ' ',
    '"',
    '\\',
    '{',
    '}',
    '[',
    ',',
    ':',
    '0',
    '-',
    '\u0001',
    ',"a":1',
  );
  const change = fc.tuple(fc.nat(400), fc.nat(2), pieces);
  return fc.oneof(
    frames,
    fc
      .tuple(frames, change)
      .map(([frame, [at, length, piece]]) => frame.slice(0, at) + piece + frame.slice(at + length)),
  );
}

test('what is written as usual is read as any message is', () => {
  let count = 0;
  fc.assert(
    fc.property(changed(fc.oneof(calls, results)), (text) => {
      const bytes = Buffer.from(text);
      const frame = bytes.toString(); // half of a pair becomes another character
      const usual = readUsual(bytes, findReader);
      if (usual === undefined) return;
      count += 1;
      const message = MessageText.read(bytes, findReader);
      if (message?.isWellFormed !== true) throw new Error('it is no JSON');
      expect(usual.message).toEqual(readBySchema(frame, schemas[usual.message.action]));
      for (const name of ['text', 'depth', 'argsReadBy'] as const) expect(usual[name]).toEqual(message[name]);
      for (const name of ['action', 'nonce', 'result'])
        expect(usual.member(name)?.text).toBe(message.member(name)?.text);
      expect(usual.bodyMember('args')?.text).toBe(message.bodyMember('args')?.text);
    }),
    { numRuns: 8_000 },
  );
  expect(count).toBeGreaterThan(1_000);
});

test.each([
  ['{"action":"remote-call","nonce":0,"body":{"remotename":"weather","function":"now","args":{}}}', true],
  ['{"action":"remote-call","nonce":"ü","body":{"remotename":"w","function":"f","args":{"a":"日"}}}', true],
  ['{"action":"remote-call","nonce":-1,"body":{"remotename":"w","function":"f","args":{}}}', false],
  ['{"action":"remote-call","nonce":01,"body":{"remotename":"w","function":"f","args":{}}}', false],
  ['{"action":"remote-call","nonce":1,"body":{"remotename":"","function":"f","args":{}}}', false],
  ['{"action":"remote-call","nonce":1,"body":{"remotename":"w","function":"f","args":[]}}', false],
  ['{"action":"remote-call","nonce":1,"body":{"remotename":"w","function":"f","args":{}}', false],
  ['{"action":"remote-call","nonce":1,"body":{"remotename":"w","function":"f","args":{}}} ', false],
  ['{"action":"remote-call","nonce":1,"body":{"remotename":"w","function":"f"}}', false],
  ['{"action":"remote-call-result","requestId":"w#0","result":null}', true],
  ['{"action":"remote-call-result","requestId":"w#0","result":nul}', false],
  ['{"action":"remote-call-result","requestId":"w#0","result":1,"result":2}', false],
  ['{"action":"remote-call-result","requestId":"w\\u00230","result":1}', false],
  ['{"action":"remote-call-result","requestId":7,"result":1}', false],
  ['{"action":"remote-call-result","requestId":"w#0"}', false],
])('%s: written as usual: %s', (frame, isUsual) => {
  expect(readUsual(Buffer.from(frame), findReader) !== undefined).toBe(isUsual);
});

test('the client writes calls and results as usual', async () => {
  await using session = await LoggedIn.start();
  const { hub, client } = session;
  const calling = client.call('weather', 'now', { city: 'Rome' }, { timeoutMs: 500 });
  const call = await hub.answer({ result: 1 });
  await calling;
  await session.serve({ now: { handler: () => 'sunny' } });
  const result = await hub.call('x#0', 'now', { city: 'Rome' });

  // parsed and written anew, its members are in the order that they came in
  expect(readUsual(Buffer.from(JSON.stringify(call)), findReader)).toBeDefined();
  expect(readUsual(Buffer.from(JSON.stringify(result)), findReader)).toBeDefined();
});

test('a nonce that is kept does not keep the message that it came in', () => {
  const collect = garbageCollector();
  const argumentsText = 'x'.repeat(30_000);
  const nonces: unknown[] = [];
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < 400; count += 1) {
    const nonce = JSON.stringify(`a nonce of more than thirteen characters ${count}`);
    const body = `{"remotename":"w","function":"f","args":{"a":"${argumentsText}"}}`;
    const frame = Buffer.from(`{"action":"remote-call","nonce":${nonce},"body":${body}}`);
    nonces.push(readUsual(frame, findReader)?.member('nonce'));
  }
  collect();
  expect(nonces.every((nonce) => nonce !== undefined)).toBe(true);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(4_000_000); // the messages are 12 MB
});
