import { expect, test } from 'vitest';
import {
  chatRequest,
  OpenAiCompatibleModel,
} from '../../../../server/src/agents/models/openai-compatible.js';
import { JsonText } from '../../../../server/src/json/json-text.js';
import { chunk, textStream } from '../../../support/model-servers/openai-wire.js';
import { startModelServer, stream } from '../../../support/model-servers/scripted-server.js';
import { ask, forecastTool, hello, textOf, twoCalls } from './adapter.js';
import { KEY, modelAt } from './openai-fixtures.js';

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

test.each(['reasoning_content', 'reasoning'])(
  'K077: %s is no text, and goes back under the name it came with',
  async (field) => {
    const thinking = chunk({ delta: { [field]: 'hm, ' } }) + chunk({ delta: { [field]: 'so' } });
    await using server = await startModelServer([stream(`${thinking}${textStream('yes')}`)]);
    const model = await modelAt(server);

    const parts = await ask(model);
    const kept = parts.flatMap((part) => (part.type === 'provider-data' ? [part] : []));
    const call = { type: 'tool-call', callId: 'a', name: 'f', args: new JsonText('{}') } as const;
    await ask(model, [{ role: 'assistant', content: [...kept, call] }]);

    expect(textOf(parts)).toBe('yes');
    expect(server.requests[1]?.body['messages']).toEqual([
      {
        role: 'assistant',
        content: null,
        [field]: 'hm, so',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
    ]);
  },
);

test('K077: what another provider wanted back is not sent', async () => {
  await using server = await startModelServer([stream(textStream('x'))]);
  const foreign = {
    type: 'provider-data',
    data: { type: 'thinking', thinking: 't', signature: 's' },
  } as const;

  await ask(await modelAt(server), [
    { role: 'assistant', content: [foreign, { type: 'text', text: 'well' }] },
  ]);

  expect(server.requests[0]?.body['messages']).toEqual([{ role: 'assistant', content: 'well' }]);
});

test('users’ messages in a row become one, and an answer without text or call is empty text, not null', async () => {
  await using server = await startModelServer([stream(textStream('x'))]);

  await ask(await modelAt(server), [
    { role: 'user', text: 'a' },
    { role: 'user', text: 'b' },
    { role: 'assistant', content: [] },
  ]);

  expect(server.requests[0]?.body['messages']).toEqual([
    { role: 'user', content: 'a\n\nb' },
    { role: 'assistant', content: '' },
  ]);
});

test('without a key the server is sent a placeholder, whatever the environment holds', async () => {
  await using server = await startModelServer([stream(textStream('x'))]);
  process.env['OPENAI_API_KEY'] = KEY;
  try {
    const config = { provider: 'openai-compatible', model: 'm', stepTimeoutMs: 10_000 } as const;
    await ask(await OpenAiCompatibleModel.create({ ...config, baseUrl: server.url }, undefined));
  } finally {
    delete process.env['OPENAI_API_KEY'];
  }

  expect(server.requests[0]?.headers.authorization).toBe('Bearer none');
});

test.each([
  ['https://api.openai.com/v1', 'max_completion_tokens'],
  ['https://mine.openai.azure.com/openai/v1', 'max_completion_tokens'],
  ['http://127.0.0.1:11434/v1', 'max_tokens'],
  ['https://api.openai.com.evil.example/v1', 'max_tokens'],
])('the bound of an answer has the name that %s knows: %s', (baseUrl, name) => {
  const config = {
    provider: 'openai-compatible',
    model: 'm',
    maxOutputTokens: 9,
    stepTimeoutMs: 1_000,
  } as const;

  const body = Object.entries(chatRequest({ ...config, baseUrl }, { messages: hello, tools: [] }));

  expect(body.filter(([key]) => key.startsWith('max_'))).toEqual([[name, 9]]);
});
