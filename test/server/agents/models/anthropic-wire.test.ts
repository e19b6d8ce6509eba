import { Anthropic } from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import {
  block,
  event,
  messageStart,
  textBlock,
  toolBlock,
} from '../../../support/model-servers/anthropic-wire.js';
import { anthropicFaults } from '../../../support/model-servers/anthropic-rules.js';
import {
  breakOff,
  refuse,
  startModelServer,
  stream,
  streamByBytes,
  type ModelServer,
} from '../../../support/model-servers/scripted-server.js';
import { answer, helloStream, KEY, oneCall, refusal } from './anthropic-fixtures.js';

/** The official client itself, with nothing of ours between it and the test server. */
function streamed({ url }: ModelServer) {
  const client = new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0 });
  return client.messages.stream({
    model: 'test-model',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'hello' }],
  });
}

test('honest: the official client reads text, parallel calls and thinking, with usage and reason', async () => {
  const thinking = block(0, { type: 'thinking', thinking: '', signature: '' }, [
    { type: 'thinking_delta', thinking: 'hm' },
    { type: 'signature_delta', signature: 'sig' },
  ]);
  const calls = `${toolBlock(2, 'a', 'f', '{"p":', '1}')}${toolBlock(3, 'b', 'g')}`;
  await using server = await startModelServer([
    stream(answer(`${thinking}${event('ping')}${textBlock(1, 'I ', 'look.')}${calls}`, 'tool_use')),
  ]);

  expect(await streamed(server).finalMessage()).toMatchObject({
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'a', name: 'f', input: { p: 1 } },
      { type: 'tool_use', id: 'b', name: 'g', input: {} },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 7, output_tokens: 5 },
  });
});

test('honest: the official client reads a stream that comes byte by byte', async () => {
  await using server = await startModelServer([streamByBytes(oneCall)]);

  expect((await streamed(server).finalMessage()).content).toMatchObject([
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', input: { city: 'Zürich' } },
  ]);
});

test('honest: the official client knows a refusal, an error in mid-stream and a cut connection as what they are', async () => {
  await using server = await startModelServer([
    refuse(529, refusal('overloaded_error')),
    stream(messageStart() + event('error', { error: { type: 'overloaded_error', message: 'full' } })),
    breakOff(messageStart()),
  ]);

  await expect(streamed(server).finalMessage()).rejects.toMatchObject({
    status: 529,
    type: 'overloaded_error',
  });
  await expect(streamed(server).finalMessage()).rejects.toMatchObject({ type: 'overloaded_error' });
  await expect(streamed(server).finalMessage()).rejects.toBeInstanceOf(Anthropic.AnthropicError);
});

test('honest: what the official client sends keeps the rules that requests are judged by', async () => {
  await using server = await startModelServer([stream(helloStream)]);
  await streamed(server).finalMessage();

  const [request] = server.requests;
  expect(request).toMatchObject({ path: '/v1/messages', headers: { authorization: `Bearer ${KEY}` } });
  expect(
    anthropicFaults({ ...request?.body, messages: [{ role: 'user', content: [text('hello')] }] }),
  ).toEqual([]);
});

function text(given: string) {
  return { type: 'text', text: given };
}
const user = (...content: object[]) => ({ role: 'user', content });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const call = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: '1' });

test.each([
  ['no messages', []],
  ['blank text', [user(text(' '))]],
  ['two of the user', [user(text('a')), user(text('b'))]],
  ['the assistant last', [user(text('a')), assistant(text('b'))]],
  ['an unanswered call', [user(text('a')), assistant(call('x'), call('y')), user(result('x'))]],
  ['text before the results', [user(text('a')), assistant(call('x')), user(text('b'), result('x'))]],
  ['a result without a call', [user(text('a')), assistant(text('b')), user(result('x'))]],
  ['an id twice', [user(text('a')), assistant(call('x'), call('x')), user(result('x'), result('x'))]],
  ['an illegal id', [user(text('a')), assistant(call('f:0')), user(result('f:0'))]],
  [
    'thinking at the end',
    [user(text('a')), assistant({ type: 'thinking', thinking: 'h', signature: 's' }), user(text('b'))],
  ],
])('honest: the rules that requests are judged by find %s', (_, messages) => {
  expect(anthropicFaults({ model: 'm', max_tokens: 1, stream: true, messages })).not.toEqual([]);
});
