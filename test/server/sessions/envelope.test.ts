import { expect, test } from 'vitest';
import {
  EnvelopeError,
  readEnvelope as readEnvelopeOf,
  type Envelope,
} from '../../../server/src/sessions/envelope.js';

const readEnvelope = (text: string, maxDepth: number): Envelope =>
  readEnvelopeOf(Buffer.from(text), maxDepth);
import { eventually } from '../../support/eventually.js';
import { startHub } from './fixtures.js';

/** What reading a frame is refused with. */
function refusalOf(text: string, maxDepth = 128): EnvelopeError {
  try {
    readEnvelope(text, maxDepth);
  } catch (error) {
    if (error instanceof EnvelopeError) return error;
    throw error;
  }
  throw new Error('it was read');
}

const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

test.each([
  ['nothing', '', 'the frame is not well-formed JSON'],
  ['blanks', ' \n', 'the frame is not well-formed JSON'],
  ['an open object', '{"action":"ping"', 'the frame is not well-formed JSON'],
  ['more after the object', '{"action":"ping"}{}', 'the frame is not well-formed JSON'],
  ['a comma too many', '{"action":"ping",}', 'the frame is not well-formed JSON'],
  ['a byte order mark', '\ufeff{"action":"ping"}', 'the frame is not well-formed JSON'],
  ['NaN', '{"action":"ping","nonce":NaN}', 'the frame is not well-formed JSON'],
  ['single quotes', "{'action':'ping'}", 'the frame is not well-formed JSON'],
  ['a word that begins like JSON', 'nul', 'the frame is not well-formed JSON'],
  ['a list', '[1]', 'the frame is JSON, but not an object'],
  ['a text', ' "x"', 'the frame is JSON, but not an object'],
  ['a number', '-1.5e3', 'the frame is JSON, but not an object'],
  ['null', 'null', 'the frame is JSON, but not an object'],
  ['true', 'true', 'the frame is JSON, but not an object'],
  ['a long list, which is not worth the parsing', lists(100_000), 'the frame is not well-formed JSON'],
  ['no action', '{}', 'action: expected a string'],
  ['an action that is no text', '{"action":7}', 'action: expected a string'],
  ['an action by inheritance', '{"__proto__":{"action":"ping"}}', 'action: expected a string'],
  ['an action whose last one is null', '{"action":"ping","action":null}', 'action: expected a string'],
])('a frame that is %s is malformed, and the text says how', (_what, text, message) => {
  expect(refusalOf(text)).toMatchObject({ code: 'malformed-message', message });
});

test('an envelope is read with the nonce as it was written', () => {
  const { action, nonce, value } = readEnvelope('{"nonce": 1.0 , "action":"p\\u0069ng", "__proto__":1}', 128);
  expect({ action, nonce: nonce?.text }).toEqual({ action: 'ping', nonce: '1.0' });
  expect(Object.keys(value)).toEqual(['nonce', 'action', '__proto__']);
  expect(readEnvelope('{"action":"ping"}', 128).nonce).toBeUndefined();
  expect(readEnvelope('{"action":"ping","nonce":null}', 128).nonce?.text).toBe('null');
});

test('a nonce may have 256 bytes, not one more, whatever its characters', () => {
  const withNonce = (text: string): string => `{"action":"remote-call","nonce":"${text}"}`;
  for (const [character, most] of [
    ['x', 254],
    ['木', 84],
    ['🗝', 63],
  ] as const) {
    expect(readEnvelope(withNonce(character.repeat(most)), 128).action).toBe('remote-call');
    expect(refusalOf(withNonce(character.repeat(most + 1)))).toMatchObject({
      message: 'nonce: longer than 256 bytes',
      nonce: undefined,
      action: 'remote-call',
    });
  }
  expect(refusalOf(`{"action":7,"nonce":"${'x'.repeat(255)}"}`)).toMatchObject({ action: undefined });
});

test('a missing action is told with the nonce', () => {
  expect(refusalOf('{"nonce":[1,  2]}').nonce?.text).toBe('[1,  2]');
});

test('a message may be 128 levels deep, itself the first', () => {
  expect(readEnvelope(`{"action":"ping","x":${lists(127)}}`, 128).action).toBe('ping');
  expect(refusalOf(`{"action":"ping","nonce":7,"x":${lists(128)}}`)).toMatchObject({
    message: 'the message is nested deeper than 128 levels',
    nonce: { text: '7' },
    action: 'ping',
    requestId: undefined,
  });
});

test('of a message that is too deep the small members are read, and nothing that is not JSON', () => {
  const deep = `"result":${lists(10_000)}`;
  const answer = '"action":"remote-call-result","requestId":"x#0"';
  expect(refusalOf(`{${answer},${deep}}`)).toMatchObject({ requestId: 'x#0', action: 'remote-call-result' });
  expect(refusalOf(`{"action":"ping","requestId":"x#0",${deep}}`).requestId).toBeUndefined();
  expect(refusalOf(`{"action":"remote-call-result","requestId":7,${deep}}`).requestId).toBeUndefined();
  expect(
    refusalOf(`{"action":"remote-call-result","requestId":"${'x'.repeat(2_000)}",${deep}}`).requestId,
  ).toBeUndefined();
  expect(refusalOf(`{"action":ping,${deep}}`).action).toBeUndefined();
  expect(refusalOf(`{"nonce":01,${deep}}`).nonce).toBeUndefined();
  expect(refusalOf(`{"nonce":"${'木'.repeat(85)}",${deep}}`).nonce).toBeUndefined();
  expect(refusalOf(`{"nonce":${lists(300)},${deep}}`).nonce).toBeUndefined();
});

test('an answer to a call with a nonce that is too long is as good as one without, a call says that nothing ran', async () => {
  await using hub = await startHub();
  await using session = await hub.connect();
  const nonce = 'x'.repeat(300);
  const before = hub.hub.counts().ignoredMessages;
  session.send({ action: 'remote-call-result', requestId: 'x#0', nonce, result: 1 });
  session.send({ action: 'remote-call-progress', requestId: 'x#0', nonce, progress: 1 });
  session.send({ action: 'remote-call', nonce, body: { remotename: 'x', function: 'f' } });
  await session.settle();
  await eventually(() => hub.hub.counts().ignoredMessages === before + 2, 'two ignored messages');
  expect(session.others).toEqual([
    { error: 'nonce: longer than 256 bytes', code: 'malformed-message', executed: 'no', retryable: false },
  ]);
});

test('K030: an answer settles its call whatever nonce it carries', async () => {
  await using hub = await startHub();
  await using session = await hub.connect();
  await session.serve('x', ['f']);
  const reply = session.call('x', 'f');
  const { requestId } = await session.next('remote-call');

  session.send({ action: 'remote-call-result', requestId, nonce: 'x'.repeat(300), result: 1 });

  expect(await reply).toMatchObject({ result: 1 });
});
