import { Anthropic } from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { AnthropicModel } from '../../../../server/src/agents/models/anthropic.js';
import { JsonText } from '../../../../server/src/json/json-text.js';
import {
  block,
  event,
  messageEnd,
  messageStart,
  textBlock,
  toolBlock,
} from '../../../support/model-servers/anthropic-wire.js';
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

async function modelAt({ url }: ModelServer, stepTimeoutMs = 10_000) {
  const config = {
    provider: 'anthropic',
    baseUrl: url,
    model: 'test-model',
    apiKey: 'env:KEY',
    maxOutputTokens: 99,
    stepTimeoutMs,
  } as const;
  return AnthropicModel.create(config, KEY);
}

const text = `${messageStart()}${event('ping')}${textBlock(0, 'Hel', 'lo')}${messageEnd('end_turn')}`;
const oneCall = `${messageStart()}${textBlock(0, 'I look.')}${toolBlock(1, 'c1', 'get_forecast', '', '{"city":', '"Zürich"}')}${messageEnd('tool_use')}`;

test('the test server is honest: the official client itself reads its streams', async () => {
  await using server = await startModelServer([stream(oneCall)]);
  const client = new Anthropic({ baseURL: server.url, apiKey: KEY });

  const message = await client.messages
    .stream({ model: 'test-model', max_tokens: 10, messages: [{ role: 'user', content: 'hello' }] })
    .finalMessage();

  expect(message.content).toMatchObject([
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 'c1', name: 'get_forecast', input: { city: 'Zürich' } },
  ]);
});

test('text comes piece by piece, with the usage at the end; pings and new kinds of events are ignored', async () => {
  await using server = await startModelServer([stream(`${event('news', { about: 'nothing' })}${text}`)]);

  expect(await ask(await modelAt(server))).toEqual([
    { type: 'text', text: 'Hel' },
    { type: 'text', text: 'lo' },
    { type: 'finish', reason: 'stop', usage: { inputTokens: 7, outputTokens: 5 } },
  ]);
});

test('K061: a request without tools names none; one with tools names them', async () => {
  await using server = await startModelServer([stream(text)]);
  const model = await modelAt(server);

  await ask(model);
  await ask(model, hello, [forecastTool]);

  const [without, withTools] = server.requests;
  expect(without).toMatchObject({ path: '/v1/messages', headers: { authorization: `Bearer ${KEY}` } });
  expect(without?.body).toEqual({
    model: 'test-model',
    max_tokens: 99,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
    stream: true,
  });
  expect(withTools?.body).toMatchObject({
    tools: [{ name: 'get_forecast', input_schema: { type: 'object' } }],
  });
});

test('K068: the results of one step are one user message that begins with them, the failed one marked', async () => {
  await using server = await startModelServer([stream(text)]);

  await ask(await modelAt(server), [...twoCalls, { role: 'user', text: 'and now?' }]);

  expect(server.requests[0]?.body).toMatchObject({
    system: 'be brief',
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'well' },
          { type: 'tool_use', id: 'a', name: 'f', input: { n: 1 } },
          { type: 'tool_use', id: 'b', name: 'g', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: '1' },
          { type: 'tool_result', tool_use_id: 'b', content: 'error: no', is_error: true },
          { type: 'text', text: 'and now?' },
        ],
      },
    ],
  });
});

test('texts that are empty are left out, since the provider refuses them', async () => {
  await using server = await startModelServer([stream(text)]);

  await ask(await modelAt(server), [
    { role: 'user', text: 'a' },
    { role: 'assistant', content: [{ type: 'text', text: ' ' }] },
    { role: 'user', text: 'b' },
  ]);

  expect(server.requests[0]?.body['messages']).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
  ]);
});

test('a call whose deltas are split at any byte is put together', async () => {
  const offsets = Array.from({ length: Buffer.byteLength(oneCall) }, (_, offset) => offset).filter(
    (offset) => offset % 7 === 0,
  );
  await using server = await startModelServer([
    ...offsets.map((offset) => streamCutAt(oneCall, offset)),
    streamByBytes(oneCall),
  ]);
  const model = await modelAt(server);

  for (let request = 0; request <= offsets.length; request += 1) {
    expect(callsOf(await ask(model))).toEqual([['c1', 'get_forecast', '{"city":"Zürich"}']]);
  }
});

test('parallel calls keep their order and their own arguments, K062: one without arguments is blank', async () => {
  const calls = `${toolBlock(0, 'a', 'f', '{"p":1}')}${toolBlock(1, 'b', 'f')}`;
  await using server = await startModelServer([stream(`${messageStart()}${calls}${messageEnd('tool_use')}`)]);

  expect(callsOf(await ask(await modelAt(server)))).toEqual([
    ['a', 'f', '{"p":1}'],
    ['b', 'f', ''],
  ]);
});

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool-calls'],
  ['max_tokens', 'length'],
  ['refusal', 'content-filter'],
  ['pause_turn', 'other'],
  [null, 'other'],
])('K072 K065: calls come whatever the reason to stop is: %s', async (given, reason) => {
  await using server = await startModelServer([
    stream(`${messageStart()}${toolBlock(0, 'a', 'f', '{}')}${messageEnd(given)}`),
  ]);

  const parts = await ask(await modelAt(server));

  expect(callsOf(parts)).toEqual([['a', 'f', '{}']]);
  expect(parts.at(-1)).toMatchObject({ type: 'finish', reason });
});

test('K077: thinking is no text, and goes back as it was, signature and all', async () => {
  const thinking = block(0, { type: 'thinking', thinking: '', signature: '' }, [
    { type: 'thinking_delta', thinking: 'hm, ' },
    { type: 'thinking_delta', thinking: 'so' },
    { type: 'signature_delta', signature: 'sig' },
  ]);
  const redacted = block(1, { type: 'redacted_thinking', data: 'xyz' }, []);
  await using server = await startModelServer([
    stream(`${messageStart()}${thinking}${redacted}${textBlock(2, 'yes')}${messageEnd('end_turn')}`),
  ]);
  const model = await modelAt(server);

  const parts = await ask(model);
  const kept = parts.flatMap((part) => (part.type === 'provider-data' ? [part] : []));
  const call = { type: 'tool-call', callId: 'a', name: 'f', args: new JsonText('{}') } as const;
  const foreign = { type: 'provider-data', data: { reasoning_content: 'of another provider' } } as const;
  await ask(model, [...hello, { role: 'assistant', content: [...kept, foreign, call] }]);

  expect(textOf(parts)).toBe('yes');
  expect(server.requests[1]?.body['messages']).toMatchObject([
    {},
    {
      content: [
        { type: 'thinking', thinking: 'hm, so', signature: 'sig' },
        { type: 'redacted_thinking', data: 'xyz' },
        { type: 'tool_use', id: 'a' },
      ],
    },
  ]);
});

test('usage that is missing is missing', async () => {
  await using server = await startModelServer([
    stream(`${messageStart(null)}${textBlock(0, 'x')}${messageEnd('end_turn', null)}`),
  ]);

  expect((await ask(await modelAt(server))).at(-1)).toEqual({ type: 'finish', reason: 'stop' });
});

test('K079: 429 with retry-after, then 529, then success: the answer comes after three requests', async () => {
  await using server = await startModelServer([
    refuse(
      429,
      { type: 'error', error: { type: 'rate_limit_error', message: 'slow' } },
      { 'retry-after-ms': '30' },
    ),
    refuse(
      529,
      { type: 'error', error: { type: 'overloaded_error', message: 'full' } },
      { 'retry-after-ms': '30' },
    ),
    stream(text),
  ]);

  expect(textOf(await ask(await modelAt(server)))).toBe('Hello');
  expect(server.requests).toHaveLength(3);
});

test.each([
  [400, 1, 'the model provider anthropic refused the request (400)'],
  [401, 1, 'the model provider anthropic refused the key (401)'],
  [429, 4, 'the model provider anthropic has received too many requests (429)'],
  [529, 4, 'the model provider anthropic is overloaded or failing (529)'],
])(
  'K079: %i always ends after %i requests, in words without the provider’s own',
  async (status, requests, message) => {
    await using server = await startModelServer([
      refuse(
        status,
        { type: 'error', error: { type: 'x', message: `secret text ${KEY}` } },
        { 'retry-after-ms': '5' },
      ),
    ]);

    await expect(ask(await modelAt(server))).rejects.toMatchObject({ name: 'ModelError', message });
    expect(server.requests).toHaveLength(requests);
  },
);

test('an error in mid-stream and a broken connection fail the step', async () => {
  const begun =
    messageStart() + event('content_block_start', { index: 0, content_block: { type: 'text', text: 'Hel' } });
  const overloaded = event('error', { error: { type: 'overloaded_error', message: `boom ${KEY}` } });
  await using server = await startModelServer([stream(begun + overloaded), breakOff(begun)]);
  const model = await modelAt(server);

  for (let request = 0; request < 2; request += 1) {
    await expect(ask(model)).rejects.toMatchObject({
      name: 'ModelError',
      message: expect.not.stringContaining(KEY) as unknown,
    });
  }
});

test('an answer without its end was cut off: the step has no finish', async () => {
  await using server = await startModelServer([stream(`${messageStart()}${textBlock(0, 'Hel')}`)]);

  expect(await ask(await modelAt(server))).toEqual([{ type: 'text', text: 'Hel' }]);
});

test('a stall ends at the deadline of the step, and an abort at once: both end the request', async () => {
  await using server = await startModelServer([stall(messageStart())]);
  await expect(ask(await modelAt(server, 150))).rejects.toMatchObject({
    message: expect.stringContaining('did not answer in time') as unknown,
  });
  await eventually(() => server.aborted.count === 1, 'the first request is ended');

  const controller = new AbortController();
  const step = ask(await modelAt(server), hello, [], controller.signal).catch(() => 'ended');
  await eventually(() => server.requests.length === 2, 'the second request has come');
  controller.abort();
  await step;
  await eventually(() => server.aborted.count === 2, 'the second request is ended');
});

test('without the official client the error names the package to install', async () => {
  const config = {
    provider: 'anthropic',
    model: 'm',
    apiKey: 'env:KEY',
    maxOutputTokens: 9,
    stepTimeoutMs: 1_000,
  } as const;
  const missing = AnthropicModel.create(config, KEY, async () => Promise.reject(new Error('not found')));

  await expect(missing).rejects.toMatchObject({
    message: "the package '@anthropic-ai/sdk' is not installed: npm install @anthropic-ai/sdk",
  });
});
