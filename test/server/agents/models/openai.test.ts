import { OpenAI } from 'openai';
import { expect, test } from 'vitest';
import { OpenAiCompatibleModel } from '../../../../server/src/agents/models/openai-compatible.js';
import { JsonText } from '../../../../server/src/json/json-text.js';
import {
  chunk,
  done,
  start,
  textStream,
  toolDelta,
  usageChunk,
} from '../../../support/model-servers/openai-wire.js';
import {
  breakOff,
  refuse,
  stall,
  startModelServer,
  stream,
  streamByBytes,
  streamCutAt,
  type ModelServer,
} from '../../../support/model-servers/scripted-server.js';
import { eventually } from '../../../support/eventually.js';
import { ask, callsOf, forecastTool, hello, textOf, twoCalls } from './adapter.js';

const KEY = 'a key that nobody may see';

async function modelAt(
  { url }: ModelServer,
  more: { stepTimeoutMs?: number; maxOutputTokens?: number } = {},
) {
  const config = {
    provider: 'openai-compatible',
    baseUrl: `${url}/v1`,
    model: 'test-model',
    stepTimeoutMs: 10_000,
    ...more,
  } as const;
  return OpenAiCompatibleModel.create(config, KEY);
}

const oneCall = `${start}${toolDelta({ index: 0, id: 'c1', type: 'function', function: { name: 'get_forecast', arguments: '' } })}${toolDelta({ index: 0, function: { arguments: '{"city":' } })}${toolDelta({ index: 0, function: { arguments: '"Zürich"}' } })}${chunk({ finish: 'tool_calls' })}${usageChunk(9, 4)}${done}`;

test('the test server is honest: the official client itself reads its streams', async () => {
  await using server = await startModelServer([stream(oneCall)]);
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: KEY });

  const completion = await client.chat.completions
    .stream({ model: 'test-model', messages: [{ role: 'user', content: 'hello' }] })
    .finalChatCompletion();

  expect(completion.choices[0]?.message.tool_calls?.[0]).toMatchObject({
    id: 'c1',
    function: { name: 'get_forecast', arguments: '{"city":"Zürich"}' },
  });
});

test('text comes piece by piece, with the usage at the end', async () => {
  await using server = await startModelServer([stream(textStream('Hel', 'lo'))]);

  expect(await ask(await modelAt(server))).toEqual([
    { type: 'text', text: 'Hel' },
    { type: 'text', text: 'lo' },
    { type: 'finish', reason: 'stop', usage: { inputTokens: 7, outputTokens: 3 } },
  ]);
});

test('K061: a request without tools names neither tools nor a choice of them; one with tools names them', async () => {
  await using server = await startModelServer([stream(textStream('x'))]);
  const model = await modelAt(server, { maxOutputTokens: 99 });

  await ask(model);
  await ask(model, hello, [forecastTool]);

  const [without, withTools] = server.requests;
  expect(without?.path).toBe('/v1/chat/completions');
  expect(without?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(without?.body).toEqual({
    model: 'test-model',
    messages: [{ role: 'user', content: 'hello' }],
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 99,
  });
  expect(withTools?.body).toMatchObject({
    tools: [{ type: 'function', function: { name: 'get_forecast' } }],
  });
});

test('K067: a step with two calls goes back as one assistant message and one tool message per call, in order', async () => {
  await using server = await startModelServer([stream(textStream('x'))]);

  await ask(await modelAt(server), twoCalls);

  expect(server.requests[0]?.body['messages']).toEqual([
    { role: 'system', content: 'be brief' },
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: 'well',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"n":1}' } },
        { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: '1' },
    { role: 'tool', tool_call_id: 'b', content: 'error: no' },
  ]);
});

test('a call whose deltas are split at any byte is put together', async () => {
  const offsets = Array.from({ length: Buffer.byteLength(oneCall) }, (_, offset) => offset);
  const sampled = offsets.filter((offset) => offset % 7 === 0);
  await using server = await startModelServer([
    ...sampled.map((offset) => streamCutAt(oneCall, offset)),
    streamByBytes(oneCall),
  ]);
  const model = await modelAt(server);

  for (let request = 0; request <= sampled.length; request += 1) {
    expect(callsOf(await ask(model))).toEqual([['c1', 'get_forecast', '{"city":"Zürich"}']]);
  }
});

const f = (args: string, more: object = {}) => ({
  type: 'function',
  function: { name: 'f', arguments: args },
  ...more,
});

test.each([
  [
    'an index of its own each',
    toolDelta({ index: 0, id: 'a', ...f('{"p":1}') }, { index: 1, id: 'b', ...f('{"p":2}') }),
  ],
  [
    'one index for both',
    toolDelta({ index: 0, id: 'a', ...f('{"p":1}') }) + toolDelta({ index: 0, id: 'b', ...f('{"p":2}') }),
  ],
  ['no index', toolDelta({ id: 'a', ...f('{"p":1}') }) + toolDelta({ id: 'b', ...f('{"p":2}') })],
  [
    'no index, in pieces',
    toolDelta({ id: 'a', ...f('{"p"') }) +
      toolDelta({ function: { arguments: ':1}' } }) +
      toolDelta({ id: 'b', ...f('{"p":') }) +
      toolDelta({ function: { arguments: '2}' } }),
  ],
])('K069: two calls of one function with %s are two calls', async (_how, deltas) => {
  await using server = await startModelServer([stream(`${deltas}${chunk({ finish: 'tool_calls' })}${done}`)]);

  expect(callsOf(await ask(await modelAt(server)))).toEqual([
    ['a', 'f', '{"p":1}'],
    ['b', 'f', '{"p":2}'],
  ]);
});

test('K069: calls with neither index nor id are told apart by their names', async () => {
  const deltas = toolDelta(f('{"p":1}')) + toolDelta(f('{"p":2}'));
  await using server = await startModelServer([stream(`${deltas}${chunk({ finish: 'stop' })}${done}`)]);

  expect(callsOf(await ask(await modelAt(server)))).toEqual([
    ['', 'f', '{"p":1}'],
    ['', 'f', '{"p":2}'],
  ]);
});

test.each([
  ['stop', 'stop'],
  ['tool_calls', 'tool-calls'],
  ['length', 'length'],
  ['content_filter', 'content-filter'],
  ['strange', 'other'],
  [null, 'other'],
])('K072 K065: calls come whatever the reason to finish is: %s', async (given, reason) => {
  await using server = await startModelServer([
    stream(`${toolDelta({ index: 0, id: 'a', ...f('{}') })}${chunk({ finish: given })}${done}`),
  ]);

  const parts = await ask(await modelAt(server));

  expect(callsOf(parts)).toEqual([['a', 'f', '{}']]);
  expect(parts.at(-1)).toEqual({ type: 'finish', reason });
});

test('K077: reasoning is no text, and goes back where it came from', async () => {
  const thinking =
    chunk({ delta: { reasoning_content: 'hm, ' } }) + chunk({ delta: { reasoning_content: 'so' } });
  await using server = await startModelServer([stream(`${thinking}${textStream('yes')}`)]);
  const model = await modelAt(server);

  const parts = await ask(model);
  const kept = parts.flatMap((part) => (part.type === 'provider-data' ? [part] : []));
  await ask(model, [
    {
      role: 'assistant',
      content: [...kept, { type: 'tool-call', callId: 'a', name: 'f', args: new JsonText('{}') }],
    },
  ]);

  expect(textOf(parts)).toBe('yes');
  expect(server.requests[1]?.body['messages']).toMatchObject([
    { role: 'assistant', content: null, reasoning_content: 'hm, so' },
  ]);
});

test('K079: 429 with retry-after, then 529, then success: the answer comes after three requests', async () => {
  await using server = await startModelServer([
    refuse(429, { error: { message: 'slow down' } }, { 'retry-after-ms': '30' }),
    refuse(529, { error: { message: 'overloaded' } }, { 'retry-after-ms': '30' }),
    stream(textStream('at last')),
  ]);

  expect(textOf(await ask(await modelAt(server)))).toBe('at last');
  expect(server.requests).toHaveLength(3);
});

test.each([
  [400, 1, 'the model provider openai-compatible refused the request (400)'],
  [401, 1, 'the model provider openai-compatible refused the key (401)'],
  [404, 1, 'the model provider openai-compatible knows no such model or address (404)'],
  [429, 4, 'the model provider openai-compatible has received too many requests (429)'],
  [500, 4, 'the model provider openai-compatible is overloaded or failing (500)'],
])(
  'K079: %i always ends after %i requests, in words without the provider’s own',
  async (status, requests, message) => {
    await using server = await startModelServer([
      refuse(status, { error: { message: `secret text ${KEY}` } }, { 'retry-after-ms': '5' }),
    ]);

    await expect(ask(await modelAt(server))).rejects.toMatchObject({ name: 'ModelError', message });
    expect(server.requests).toHaveLength(requests);
  },
);

test('an error in mid-stream, a broken connection and a broken line fail the step', async () => {
  const begun = chunk({ delta: { content: 'Hel' } });
  await using server = await startModelServer([
    stream(`${begun}data: {"error":{"message":"boom ${KEY}"}}\n\n`),
    breakOff(begun),
    stream(`${begun}data: {"choices": [\n\n${done}`),
  ]);
  const model = await modelAt(server);

  for (let request = 0; request < 3; request += 1) {
    await expect(ask(model)).rejects.toMatchObject({
      name: 'ModelError',
      message: expect.not.stringContaining(KEY) as unknown,
    });
  }
});

test('text that ends without a reason to finish was cut off: the step has no finish', async () => {
  await using server = await startModelServer([stream(chunk({ delta: { content: 'Hel' } }))]);

  expect(await ask(await modelAt(server))).toEqual([{ type: 'text', text: 'Hel' }]);
});

test('a stall ends at the deadline of the step', async () => {
  await using server = await startModelServer([stall(chunk({ delta: { content: 'Hel' } }))]);

  await expect(ask(await modelAt(server, { stepTimeoutMs: 150 }))).rejects.toMatchObject({
    name: 'ModelError',
    message: expect.stringContaining('did not answer in time') as unknown,
  });
  await eventually(() => server.aborted.count === 1, 'the request is ended');
});

test('an abort ends the request', async () => {
  await using server = await startModelServer([stall(chunk({ delta: { content: 'Hel' } }))]);
  const controller = new AbortController();
  const step = ask(await modelAt(server), hello, [], controller.signal).catch(() => 'ended');
  await eventually(() => server.requests.length === 1, 'the request has come');

  controller.abort();

  await step;
  await eventually(() => server.aborted.count === 1, 'the request is ended');
});

test('without the official client the error names the package to install', async () => {
  const config = {
    provider: 'openai-compatible',
    baseUrl: 'http://127.0.0.1:1/v1',
    model: 'm',
    stepTimeoutMs: 1_000,
  } as const;
  const missing = OpenAiCompatibleModel.create(config, undefined, async () =>
    Promise.reject(new Error('not found')),
  );

  await expect(missing).rejects.toMatchObject({
    name: 'ModelError',
    message: "the package 'openai' is not installed: npm install openai",
  });
});
