import { connect } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import { startTestHub } from '../../../support/hub.js';
import { anthropicFaults } from '../../../support/model-servers/anthropic-rules.js';
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
  type Answer,
} from '../../../support/model-servers/scripted-server.js';
import { answer, helloStream, KEY, refusal } from './anthropic-fixtures.js';

/** What became of one run whose model answers like this; each of its calls of `work` counts. */
async function runOn(answers: readonly Answer[]) {
  await using server = await startModelServer(answers);
  const model = {
    provider: 'anthropic',
    baseUrl: server.url,
    model: 'm',
    apiKey: KEY,
    stepTimeoutMs: 700,
  } as const;
  await using hub = await startTestHub({ agents: [{ id: 'a', name: 'A', model }] });
  await using session = await connect(hub.url, { token: await hub.token() });
  const worked: unknown[] = [];
  const fail = (): never => {
    throw new Error('broken');
  };
  await session.serve('x', {
    work: { handler: (args) => worked.push(args), parameters: { type: 'object', properties: {} } },
    fail: { handler: fail },
  });
  const run = await session.prompt('a', 'go', { remotes: ['x'] });
  const calls: string[] = [];
  const results: string[] = [];
  for await (const { action, body } of run) {
    if (action === 'run-tool-call') calls.push(body.callId);
    if (action === 'run-tool-result') results.push(body.callId);
  }
  expect(results.toSorted()).toEqual(calls.toSorted());
  expect(server.requests.flatMap(({ body }) => anthropicFaults(body))).toEqual([]);
  expect(JSON.stringify(hub.logs)).not.toContain(KEY);
  return { result: await run.result, worked, requests: server.requests.map(({ body }) => body['messages']) };
}

const oneWork = answer(toolBlock(0, 'c1', 'work', '{"n":', '1}'), 'tool_use');
const twoCalls = answer(
  `${textBlock(0, 'I try.')}${toolBlock(1, 'a', 'fail', '{}')}${toolBlock(2, 'b', 'work')}`,
  'tool_use',
);
const begun = messageStart() + textBlock(0, 'Hel') + toolBlock(1, 'c2', 'work', '{}');

test('K068: parallel calls, one of which fails, are answered in one message, and the run completes', async () => {
  const { result, worked, requests } = await runOn([streamByBytes(twoCalls), stream(helloStream)]);

  expect(result).toMatchObject({
    status: 'completed',
    output: expect.stringContaining('Hello') as unknown,
    usage: { steps: 2, toolCalls: 2, inputTokens: 14, outputTokens: 10 },
  });
  expect(worked).toEqual([{}]);
  expect(requests[1]).toMatchObject([
    {},
    { role: 'assistant', content: [{ type: 'text' }, { id: 'a' }, { id: 'b' }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', is_error: true },
        { type: 'tool_result', tool_use_id: 'b', content: '1' },
      ],
    },
  ]);
});

test('a run of ordinary text completes with its usage', async () => {
  const { result } = await runOn([stream(helloStream)]);

  expect(result).toMatchObject({
    status: 'completed',
    output: 'Hello',
    usage: { steps: 1, toolCalls: 0, inputTokens: 7, outputTokens: 5 },
  });
});

test('K069: calls without id, index and end are made and answered each', async () => {
  const start = event('content_block_start', {
    content_block: { type: 'tool_use', name: 'work', input: {} },
  });
  const delta = (n: number) =>
    event('content_block_delta', { delta: { type: 'input_json_delta', partial_json: `{"n":${n}}` } });
  const { result, worked, requests } = await runOn([
    stream(answer(start + delta(1) + start + delta(2), 'tool_use')),
    stream(helloStream),
  ]);

  expect(result).toMatchObject({ status: 'completed', output: 'Hello' });
  expect(worked).toEqual([{ n: 1 }, { n: 2 }]);
  expect(requests[1]).toMatchObject([
    {},
    { content: [{ id: 'call-1' }, { id: 'call-2' }] },
    { content: [{ tool_use_id: 'call-1' }, { tool_use_id: 'call-2' }] },
  ]);
});

test('K062: a call with blank arguments is made with none', async () => {
  const blank = `${toolBlock(0, 'a', 'work')}${toolBlock(1, 'b', 'work', '   ')}`;
  const { result, worked } = await runOn([stream(answer(blank, 'tool_use')), stream(helloStream)]);

  expect(result.status).toBe('completed');
  expect(worked).toEqual([{}, {}]);
});

test('K064: arguments that are two objects are never executed, and an object goes back', async () => {
  const { result, worked, requests } = await runOn([
    stream(answer(toolBlock(0, 'a', 'work', '{"a":1}{"b":2}'), 'tool_use')),
    stream(helloStream),
  ]);

  expect(result.status).toBe('completed');
  expect(worked).toEqual([]);
  expect(requests[1]).toMatchObject([
    {},
    { content: [{ type: 'tool_use', input: {} }] },
    {
      content: [
        {
          type: 'tool_result',
          is_error: true,
          content: expect.stringContaining('not valid JSON') as unknown,
        },
      ],
    },
  ]);
});

test('K077: thinking goes back before its call, signed as it was, and is not shown', async () => {
  const thinking = block(0, { type: 'thinking', thinking: '', signature: '' }, [
    { type: 'thinking_delta', thinking: 'hm' },
    { type: 'signature_delta', signature: 'sig' },
  ]);
  const { result, requests } = await runOn([
    stream(answer(`${thinking}${toolBlock(1, 'a', 'work', '{}')}`, 'tool_use')),
    stream(helloStream),
  ]);

  expect(result.output).toBe('Hello');
  expect(requests[1]).toMatchObject([
    {},
    {
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'tool_use', id: 'a' },
      ],
    },
    {},
  ]);
});

test.each(['end_turn', 'refusal', null])(
  'K072: a call that comes with the reason %s is made',
  async (reason) => {
    const { result, worked } = await runOn([
      stream(answer(toolBlock(0, 'c', 'work', '{}'), reason)),
      stream(helloStream),
    ]);

    expect(worked).toHaveLength(1);
    expect(result.status).toBe('completed');
  },
);

test.each(['max_tokens', 'model_context_window_exceeded', 'tool_use'])(
  'K065: arguments that were cut off are never executed, and the model is told: %s',
  async (reason) => {
    const { result, worked, requests } = await runOn([
      stream(answer(toolBlock(0, 'c', 'work', '{"path":"a","content":"he'), reason)),
      stream(helloStream),
    ]);

    expect(worked).toEqual([]);
    expect(result.status).toBe('completed');
    expect(JSON.stringify(requests[1])).toContain('the arguments were cut off');
  },
);

test.each(['max_tokens', 'model_context_window_exceeded'])(
  'K065: a call of which only the name had come is not executed: %s',
  async (reason) => {
    const { worked } = await runOn([stream(answer(toolBlock(0, 'c', 'work'), reason)), stream(helloStream)]);

    expect(worked).toEqual([]);
  },
);

test.each([
  [
    'an error',
    stream(begun + event('error', { error: { type: 'overloaded_error', message: KEY } })),
    /failed in the middle/u,
  ],
  ['a cut connection', breakOff(begun), /failed in the middle/u],
  ['a stall', stall(begun), /did not answer in time/u],
  ['an end without a reason', stream(begun), /cut off/u],
  ['a 400', refuse(400, refusal('invalid_request_error')), /refused the request \(400\)/u],
  [
    '429s without end',
    refuse(429, refusal('rate_limit_error'), { 'retry-after-ms': '5' }),
    /too many requests \(429\)/u,
  ],
])('K079: after a call, %s fails the run in plain words; the call ran once', async (_, response, error) => {
  const { result, worked } = await runOn([stream(oneWork), response]);

  expect(result).toMatchObject({
    status: 'failed',
    code: 'model-failed',
    error: expect.stringMatching(error) as unknown,
  });
  expect(worked).toEqual([{ n: 1 }]);
});

test('K079: after a call, 429 and 529 are waited for; the call ran once and the run completes', async () => {
  const { result, worked } = await runOn([
    stream(oneWork),
    refuse(429, refusal('rate_limit_error'), { 'retry-after': '0.02' }),
    refuse(529, refusal('overloaded_error'), { 'retry-after': '0.02' }),
    stream(helloStream),
  ]);

  expect(result).toMatchObject({ status: 'completed', output: 'Hello' });
  expect(worked).toEqual([{ n: 1 }]);
});

test('a run whose provider counts nothing completes, without tokens in its usage', async () => {
  const { result } = await runOn([
    stream(`${messageStart(null)}${textBlock(0, 'Hello')}${messageEnd('end_turn', null)}`),
  ]);

  expect(result).toMatchObject({ status: 'completed', output: 'Hello' });
  expect(result.usage).toEqual({ steps: 1, toolCalls: 0 });
});
