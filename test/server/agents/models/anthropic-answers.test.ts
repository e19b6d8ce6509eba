import { expect, test } from 'vitest';
import { MAX_BLOCK_CHARACTERS } from '../../../../server/src/agents/models/anthropic-answer.js';
import {
  block,
  event,
  messageEnd,
  messageStart,
  textBlock,
  toolBlock,
} from '../../../support/model-servers/anthropic-wire.js';
import {
  startModelServer,
  stream,
  streamByBytes,
  streamCutAt,
} from '../../../support/model-servers/scripted-server.js';
import { ask, callsOf } from './adapter.js';
import { answer, helloStream, modelAt, oneCall } from './anthropic-fixtures.js';

/** Everything the adapter makes of one stream. */
async function partsOf(text: string) {
  await using server = await startModelServer([stream(text)]);
  const parts = await ask(await modelAt(server)); // the server must live until then
  return parts;
}

test('text comes piece by piece, with the usage at the end; pings and new kinds of events and blocks are ignored', async () => {
  const news = event('news', { about: 'nothing' });
  const newBlock = block(7, { type: 'hologram', text: 'no' }, [{ type: 'light_delta', light: 1 }]);

  expect(
    await partsOf(`${news}${helloStream.replace('event: message_delta', `${newBlock}event: message_delta`)}`),
  ).toEqual([
    { type: 'text', text: 'Hel' },
    { type: 'text', text: 'lo' },
    { type: 'finish', reason: 'stop', usage: { inputTokens: 7, outputTokens: 5 } },
  ]);
});

test('a call is put together at whichever byte its stream is split, and when it comes byte by byte', async () => {
  const [before = '', after = ''] = oneCall.split(
    toolBlock(1, 'c1', 'get_forecast', '', '{"city":', '"Zürich"}'),
  );
  const end = Buffer.byteLength(oneCall) - Buffer.byteLength(after);
  const offsets = Array.from({ length: end - before.length }, (_, index) => before.length + index);
  await using server = await startModelServer([
    ...offsets.map((offset) => streamCutAt(oneCall, offset)),
    streamByBytes(oneCall),
  ]);
  const model = await modelAt(server);

  for (let request = 0; request <= offsets.length; request += 1) {
    expect(callsOf(await ask(model))).toEqual([['c1', 'get_forecast', '{"city":"Zürich"}']]);
  }
});

test('parallel calls keep their order and their own arguments, also when their deltas are mixed', async () => {
  const start = (index: number, id: string) =>
    event('content_block_start', { index, content_block: { type: 'tool_use', id, name: 'f', input: {} } });
  const delta = (index: number, partial_json: string) =>
    event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } });
  const stop = (index: number) => event('content_block_stop', { index });
  const mixed = [
    start(0, 'a'),
    start(1, 'b'),
    delta(1, '{"p"'),
    delta(0, '{"p":1'),
    delta(1, ':2}'),
    delta(0, '}'),
    stop(0),
    stop(1),
  ].join('');

  expect(callsOf(await partsOf(answer(mixed, 'tool_use')))).toEqual([
    ['a', 'f', '{"p":1}'],
    ['b', 'f', '{"p":2}'],
  ]);
});

test('K062: a call without arguments is blank', async () => {
  expect(
    callsOf(await partsOf(answer(`${toolBlock(0, 'a', 'f')}${toolBlock(1, 'b', 'f', '')}`, 'tool_use'))),
  ).toEqual([
    ['a', 'f', ''],
    ['b', 'f', ''],
  ]);
});

test('K069: blocks without index, end or id stay apart; arguments that come whole at the start are taken', async () => {
  const start = (id: string | undefined, input: object) =>
    event('content_block_start', { content_block: { type: 'tool_use', id, name: 'f', input } });
  const delta = event('content_block_delta', {
    delta: { type: 'input_json_delta', partial_json: '{"p":2}' },
  });

  expect(
    callsOf(await partsOf(answer(`${start('a', { p: 1 })}${start(undefined, {})}${delta}`, 'tool_use'))),
  ).toEqual([
    ['a', 'f', '{"p":1}'],
    ['', 'f', '{"p":2}'],
  ]);
});

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool-calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content-filter'],
  ['pause_turn', 'other'],
  ['a reason of tomorrow', 'other'],
  [null, 'other'],
])('K072: calls come whatever the reason to stop is: %s', async (given, reason) => {
  const parts = await partsOf(answer(toolBlock(0, 'a', 'f', '{}'), given));

  expect(callsOf(parts)).toEqual([['a', 'f', '{}']]);
  expect(parts.at(-1)).toMatchObject({ type: 'finish', reason });
});

test('K072: a later delta without a reason does not take it back', async () => {
  const parts = await partsOf(`${messageStart()}${messageEnd('tool_use')}${messageEnd(null)}`);

  expect(parts.at(-1)).toMatchObject({ reason: 'tool-calls' });
});

test('K065: a call that was cut off comes as far as it came, with the reason; cut-off thinking does not come', async () => {
  const begin = (index: number, start: object, delta: object) =>
    event('content_block_start', { index, content_block: start }) +
    event('content_block_delta', { index, delta });
  const call = begin(
    1,
    { type: 'tool_use', id: 'a', name: 'write', input: {} },
    { type: 'input_json_delta', partial_json: '{"path":"a","content":"he' },
  );
  const thinking = begin(
    0,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking: 'hm' },
  );

  expect(await partsOf(answer(`${thinking}${call}`, 'max_tokens'))).toMatchObject([
    { type: 'tool-call', callId: 'a', name: 'write', args: '{"path":"a","content":"he' },
    { type: 'finish', reason: 'length' },
  ]);
});

test.each([
  ['nowhere', null, null, undefined],
  ['at the end alone', null, { input_tokens: 3, output_tokens: 4 }, { inputTokens: 3, outputTokens: 4 }],
  ['at the start alone', { input_tokens: 3, output_tokens: 1 }, null, { inputTokens: 3, outputTokens: 1 }],
  [
    'with a cache, which counts',
    { input_tokens: 1, cache_creation_input_tokens: 10, cache_read_input_tokens: 100, output_tokens: 1 },
    { output_tokens: 9, input_tokens: null },
    { inputTokens: 111, outputTokens: 9 },
  ],
  ['as no numbers', { input_tokens: 'many' }, { output_tokens: -1 }, undefined],
])('usage is what the provider counts, counted %s', async (_, start, end, usage) => {
  const parts = await partsOf(`${messageStart(start)}${textBlock(0, 'x')}${messageEnd('end_turn', end)}`);

  expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'stop', ...(usage && { usage }) });
});

test('an answer without a reason to stop was cut off: the step has no finish', async () => {
  expect(await partsOf(`${messageStart()}${textBlock(0, 'Hel')}`)).toEqual([{ type: 'text', text: 'Hel' }]);
  expect(
    await partsOf(
      `${messageStart()}${textBlock(0, 'Hel')}${event('message_delta', { delta: { stop_reason: null } })}`,
    ),
  ).toEqual([{ type: 'text', text: 'Hel' }]);
  expect(await partsOf('')).toEqual([]);
});

test('an answer whose reason has come is whole, though message_stop has not', async () => {
  const withoutStop = helloStream.slice(0, helloStream.indexOf('event: message_stop'));

  expect((await partsOf(withoutStop)).at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
});

test('a block that never ends ends the step', async () => {
  const piece = 'x'.repeat(MAX_BLOCK_CHARACTERS / 8);
  const endless = toolBlock(0, 'a', 'f', ...Array.from({ length: 9 }, () => piece));

  await expect(partsOf(answer(endless))).rejects.toMatchObject({
    name: 'ModelError',
    message: 'the answer of the model is too long',
  });
});
