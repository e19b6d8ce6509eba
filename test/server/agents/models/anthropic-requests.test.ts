import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { anthropicMessages, systemText } from '../../../../server/src/agents/models/anthropic-messages.js';
import type { AssistantContent, ModelMessage } from '../../../../server/src/agents/models/model.js';
import { JsonText } from '../../../../server/src/json/json-text.js';
import { anthropicFaults } from '../../../support/model-servers/anthropic-rules.js';
import { block, textBlock, toolBlock } from '../../../support/model-servers/anthropic-wire.js';
import { startModelServer, stream } from '../../../support/model-servers/scripted-server.js';
import { ask, forecastTool, hello, textOf, twoCalls } from './adapter.js';
import { answer, helloStream, KEY, modelAt } from './anthropic-fixtures.js';

const user = (text: string): ModelMessage => ({ role: 'user', text });
const says = (...content: AssistantContent[]): ModelMessage => ({ role: 'assistant', content });
const text = (given: string): AssistantContent => ({ type: 'text', text: given });
const calls = (callId: string, args = '{}'): AssistantContent => ({
  type: 'tool-call',
  callId,
  name: 'f',
  args: new JsonText(args),
});
const results = (...callIds: string[]): ModelMessage => ({
  role: 'tool',
  results: callIds.map((callId) => ({ callId, name: 'f', content: callId, isError: false })),
});
const kept = (data: unknown): AssistantContent => ({ type: 'provider-data', data });

/** The messages as they are sent, with tools in the request. */
const sent = (...messages: ModelMessage[]) => anthropicMessages(messages, true);

test('K061: a request without tools has no tools and no tool_choice; one with tools names them', async () => {
  await using server = await startModelServer([stream(helloStream)]);
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
  expect(withTools?.body['tools']).toEqual([
    {
      name: 'get_forecast',
      description: 'Retrieve weather forecast for a location.',
      input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  ]);
});

test('K068: the results of one step are one user message that begins with them, the failed one marked', async () => {
  await using server = await startModelServer([stream(helloStream)]);

  await ask(await modelAt(server), [...twoCalls, user('and now?')], [forecastTool]);

  expect(server.requests[0]?.body).toMatchObject({ system: 'be brief' });
  expect(server.requests[0]?.body['messages']).toEqual([
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
  ]);
});

test('user and assistant take turns, and blank texts are left out', () => {
  expect(sent(user('a'), says(text(' ')), user('b'), says(text('c')), says(text('d')), user('e'))).toEqual([
    { role: 'user', content: [text('a'), text('b')] },
    { role: 'assistant', content: [text('c'), text('d')] },
    { role: 'user', content: [text('e')] },
  ]);
});

test('all system texts come first, apart from the messages; blank ones do not', () => {
  const messages: ModelMessage[] = [
    { role: 'system', text: 'be brief' },
    { role: 'system', text: ' ' },
    user('a'),
    { role: 'system', text: 'and kind' },
  ];

  expect(systemText(messages)).toBe('be brief\n\nand kind');
  expect(sent(...messages)).toEqual([{ role: 'user', content: [text('a')] }]);
});

test('a call id that was used before, or that the provider refuses, is replaced; its result follows it', () => {
  const history = [says(calls('call-1')), results('call-1')];

  const messages = sent(
    user('a'),
    ...history,
    user('b'),
    ...history,
    user('c'),
    says(calls('f:0')),
    results('f:0'),
  );

  expect(messages.map(({ content }) => content).flat()).toMatchObject([
    text('a'),
    { type: 'tool_use', id: 'call-1' },
    { type: 'tool_result', tool_use_id: 'call-1' },
    text('b'),
    { type: 'tool_use', id: 'call-1_2' },
    { type: 'tool_result', tool_use_id: 'call-1_2' },
    text('c'),
    { type: 'tool_use', id: 'f_0' },
    { type: 'tool_result', tool_use_id: 'f_0' },
  ]);
});

test('K061: without tools the calls of earlier runs are left out, their words and those of this run stay', () => {
  const earlier = [user('a'), says(text('I look'), calls('x')), results('x'), says(text('sunny'))];

  expect(anthropicMessages([...earlier, user('b'), says(calls('y')), results('y')], false)).toMatchObject([
    { role: 'user', content: [text('a')] },
    { role: 'assistant', content: [text('I look'), text('sunny')] },
    { role: 'user', content: [text('b')] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'y' }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'y' }] },
  ]);
});

test('K077: thinking is no text, and goes back as it was, signature and all', async () => {
  const thinking = block(0, { type: 'thinking', thinking: '', signature: '' }, [
    { type: 'thinking_delta', thinking: 'hm, ' },
    { type: 'thinking_delta', thinking: 'so' },
    { type: 'signature_delta', signature: 'sig' },
  ]);
  const redacted = block(1, { type: 'redacted_thinking', data: 'xyz' }, []);
  await using server = await startModelServer([
    stream(answer(`${thinking}${redacted}${textBlock(2, 'yes')}${toolBlock(3, 'a', 'f')}`, 'tool_use')),
  ]);
  const model = await modelAt(server);

  const parts = await ask(model, hello, [forecastTool]);
  const data = parts.filter((part) => part.type === 'provider-data');
  await ask(model, [...hello, says(...data, text('yes'), calls('a')), results('a')], [forecastTool]);

  expect(textOf(parts)).toBe('yes');
  expect(server.requests[1]?.body['messages']).toMatchObject([
    {},
    {
      content: [
        { type: 'thinking', thinking: 'hm, so', signature: 'sig' },
        { type: 'redacted_thinking', data: 'xyz' },
        { type: 'text', text: 'yes' },
        { type: 'tool_use', id: 'a' },
      ],
    },
    {},
  ]);
});

test('K077: what another provider kept is left out, and so is thinking at the end of a message', () => {
  const thinking = { type: 'thinking', thinking: 'hm', signature: 'sig' };

  expect(
    sent(user('a'), says(kept({ reasoning_content: 'x' }), kept('y'), text('b'), kept(thinking)), user('c')),
  ).toEqual([
    { role: 'user', content: [text('a')] },
    { role: 'assistant', content: [text('b')] },
    { role: 'user', content: [text('c')] },
  ]);
  expect(sent(user('a'), says(kept(thinking)), user('c'))).toEqual([
    { role: 'user', content: [text('a'), text('c')] },
  ]);
});

test('K077: without tools the thinking of an earlier turn is left out with its calls', () => {
  const thinking = kept({ type: 'thinking', thinking: 'hm', signature: 'sig' });
  const earlier = [user('a'), says(thinking, text('I look'), calls('x')), results('x'), says(text('b'))];

  expect(anthropicMessages([...earlier, user('c')], false)).toEqual([
    { role: 'user', content: [text('a')] },
    { role: 'assistant', content: [text('I look'), text('b')] },
    { role: 'user', content: [text('c')] },
  ]);
});

test('arguments are sent as the value that their text has, odd keys among it', () => {
  const [, message] = sent(
    user('a'),
    says(calls('x', '{"__proto__":{"a":[]},"constructor":1}')),
    results('x'),
  );

  expect(JSON.stringify(message?.content)).toContain('"input":{"__proto__":{"a":[]},"constructor":1}');
});

const words = fc.constantFrom('', ' ', 'a', 'what?');
const step = fc
  .tuple(
    words,
    fc.uniqueArray(fc.constantFrom('call-1', 'call-1_2', 'f:0', 'f_0', '', 'é'), { maxLength: 4 }),
    fc.constantFrom(
      undefined,
      { type: 'thinking', thinking: '', signature: 's' },
      { reasoning_content: 'x' },
    ),
  )
  .map(([said, ids, data]): ModelMessage[] => {
    const thought = data === undefined ? [] : [kept(data)];
    const message = says(...thought, text(said), ...ids.map((id) => calls(id)));
    return ids.length === 0 ? [message] : [message, results(...ids)];
  });
const run = fc
  .tuple(words, fc.array(step, { maxLength: 4 }))
  .map(([said, steps]) => [user(said), ...steps.flat()]);

test('K067 K068: whatever the conversation, the provider takes it: turns, results, ids, thinking, blank texts', () => {
  fc.assert(
    fc.property(fc.array(run, { maxLength: 4 }), fc.boolean(), (runs, hasTools) => {
      const messages = anthropicMessages([user('first'), ...runs.flat(), user('last')], hasTools);
      expect(anthropicFaults({ model: 'm', max_tokens: 1, stream: true, messages })).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
