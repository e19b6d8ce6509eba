import { OpenAI } from 'openai';
import { expect, test } from 'vitest';
import { MAX_HELD_CHARACTERS } from '../../../../server/src/agents/models/openai-answer.js';
import {
  chunk,
  done,
  start,
  textStream,
  toolDelta,
  usageChunk,
} from '../../../support/model-servers/openai-wire.js';
import {
  refuse,
  startModelServer,
  stream,
  streamByBytes,
  streamCutAt,
} from '../../../support/model-servers/scripted-server.js';
import { ask, callsOf, textOf } from './adapter.js';
import { f, KEY, modelAt, more, oneCall, partsOf } from './openai-fixtures.js';

/** The official client alone: what it reads, our server has sent as OpenAI does. */
async function officially(url: string) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, logLevel: 'off' });
  return client.chat.completions
    .stream({
      model: 'test-model',
      messages: [{ role: 'user', content: 'hello' }],
      stream_options: { include_usage: true },
    })
    .finalChatCompletion();
}

test('the test server is honest: the official client itself reads its calls, in one piece and byte by byte', async () => {
  await using server = await startModelServer([stream(oneCall), streamByBytes(oneCall)]);

  for (const { choices, usage } of [await officially(server.url), await officially(server.url)]) {
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        tool_calls: [{ id: 'c1', function: { name: 'get_forecast', arguments: '{"city":"Zürich"}' } }],
      },
    });
    expect(usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 4 });
  }
});

test('the test server is honest: the official client reads text and parallel calls, tries a 429 again and sees errors', async () => {
  const calls = toolDelta(f('{"p":1}', { index: 0, id: 'a' }), f('{"p":2}', { index: 1, id: 'b' }));
  await using server = await startModelServer([
    refuse(429, { error: { message: 'slow down' } }, { 'retry-after': '0.02' }),
    stream(textStream('Hel', 'lo')),
    stream(`${start}${calls}${chunk({ finish: 'tool_calls' })}${done}`),
    stream(`${start}data: {"error":{"message":"boom"}}\n\n`),
  ]);

  expect((await officially(server.url)).choices[0]?.message.content).toBe('Hello');
  expect((await officially(server.url)).choices[0]?.message.tool_calls).toMatchObject([
    { id: 'a' },
    { id: 'b' },
  ]);
  await expect(officially(server.url)).rejects.toThrow('boom');
});

test('text comes piece by piece, with the usage at the end', async () => {
  expect(await partsOf(stream(textStream('Hel', 'lo')))).toEqual([
    { type: 'text', text: 'Hel' },
    { type: 'text', text: 'lo' },
    { type: 'finish', reason: 'stop', usage: { inputTokens: 7, outputTokens: 3 } },
  ]);
});

test('usage that is absent or no usage is absent', async () => {
  const odd = { prompt_tokens: -1, completion_tokens: 1, total_tokens: 0 };
  for (const usage of [undefined, null, odd]) {
    const parts = await partsOf(
      stream(`${chunk({ finish: 'stop', ...(usage !== undefined && { usage }) })}${done}`),
    );
    expect(parts).toEqual([{ type: 'finish', reason: 'stop' }]);
  }
});

test('an answer that is split at any byte is put together', async () => {
  const call = toolDelta(f('', { index: 0, id: 'c' })) + toolDelta(more('{"ü":"\u{1f600}"}', { index: 0 }));
  const whole = call + chunk({ finish: 'tool_calls' });
  const answers = Array.from({ length: Buffer.byteLength(whole) }, (_, at) => streamCutAt(whole, at));
  await using server = await startModelServer([...answers, streamByBytes(whole)]);
  const model = await modelAt(server);

  for (let request = 0; request <= answers.length; request += 32) {
    const asked = Array.from({ length: 32 }, async () => callsOf(await ask(model)));
    for (const calls of await Promise.all(asked)) expect(calls).toEqual([['c', 'f', '{"ü":"\u{1f600}"}']]);
  }
});

test('comments, CRLF, no space after the colon and chunks that are none do no harm', async () => {
  const odd = [
    'null',
    '5',
    '[]',
    '{}',
    '{"choices":[null]}',
    '{"choices":5}',
    '{"choices":[{"delta":null}]}',
  ];
  const wire = `: PROCESSING\n\n${odd.map((data) => `data: ${data}\n\n`).join('')}${textStream('Hel', 'lo')}`;

  const parts = await partsOf(stream(wire.replaceAll('data: ', 'data:').replaceAll('\n', '\r\n')));

  expect(textOf(parts)).toBe('Hello');
  expect(parts.at(-1)).toMatchObject({ reason: 'stop' });
});

test.each([
  ['stop', 'stop'],
  ['tool_calls', 'tool-calls'],
  ['length', 'length'],
  ['content_filter', 'content-filter'],
  ['other', 'other'],
  ['', 'other'],
  [null, 'other'],
])('K072 K065: calls come whatever the reason to finish is: %s', async (given, reason) => {
  const parts = await partsOf(
    stream(`${toolDelta(f('{}', { index: 0, id: 'a' }))}${chunk({ finish: given })}${done}`),
  );

  expect(callsOf(parts)).toEqual([['a', 'f', '{}']]);
  expect(parts.at(-1)).toEqual({ type: 'finish', reason });
});

test('K062: a call without arguments is blank', async () => {
  const calls = toolDelta(f('', { index: 0, id: 'a' }), f('   ', { index: 1, id: 'b' }));

  expect(callsOf(await partsOf(stream(`${calls}${chunk({ finish: 'stop' })}${done}`)))).toEqual([
    ['a', 'f', ''],
    ['b', 'f', '   '],
  ]);
});

test('K065: without any end, a call whose arguments never came was cut off', async () => {
  const call = toolDelta(f('', { index: 0, id: 'a' }));

  expect((await partsOf(stream(call))).at(-1)).toEqual({ type: 'finish', reason: 'length' });
  expect((await partsOf(stream(call + usageChunk(1, 1)))).at(-1)).toMatchObject({ reason: 'other' });
});

test('a refusal is what the model said', async () => {
  const delta = { content: '', refusal: 'I will not.' };

  expect(textOf(await partsOf(stream(`${chunk({ delta })}${chunk({ finish: 'stop' })}${done}`)))).toBe(
    'I will not.',
  );
});

test.each([
  ['no reason to finish', chunk({ delta: { content: 'Hel' } })],
  ['a blank one', chunk({ delta: { content: 'Hel' }, finish: '' })],
  [
    'a count so far',
    chunk({ delta: { content: 'Hel' }, usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
  ],
])('text that ends with %s was cut off: the step has no finish', async (_what, wire) => {
  expect(await partsOf(stream(wire))).toEqual([{ type: 'text', text: 'Hel' }]);
});

test('an answer that is no stream has no finish either', async () => {
  const page = await partsOf((response) =>
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>hi'),
  );
  const object = await partsOf(refuse(200, { error: { message: 'no' } }));

  expect([page, object]).toEqual([[], []]);
});

test.each([
  ['arguments', toolDelta(f('x'.repeat(MAX_HELD_CHARACTERS / 8), { index: 0, id: 'a' }))],
  ['reasoning', chunk({ delta: { reasoning_content: 'x'.repeat(MAX_HELD_CHARACTERS / 8) } })],
])('an answer whose %s do not end fails the step', async (_what, piece) => {
  await expect(partsOf(stream(piece.repeat(9)))).rejects.toMatchObject({
    name: 'ModelError',
    message: 'the answer of the model is too long',
  });
});
