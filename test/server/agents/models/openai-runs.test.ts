import { connect, type RunEvent } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import { chunk, done, start, textStream, toolDelta } from '../../../support/model-servers/openai-wire.js';
import {
  breakOff,
  refuse,
  stall,
  startModelServer,
  stream,
  streamByBytes,
  type Answer,
} from '../../../support/model-servers/scripted-server.js';
import { startTestHub } from '../../../support/hub.js';
import { f, KEY } from './openai-fixtures.js';

/** A run on the real client and this server, with a function `f` that gives its arguments back. */
async function runOn(answers: readonly Answer[]) {
  await using server = await startModelServer(answers);
  const model = {
    provider: 'openai-compatible',
    baseUrl: `${server.url}/v1`,
    model: 'm',
    apiKey: KEY,
    stepTimeoutMs: 400,
  } as const;
  await using hub = await startTestHub({ agents: [{ id: 7, name: 'Helper', model }] });
  await using session = await connect(hub.url, { token: await hub.token() });
  let ran = 0;
  const handler = (args: object): unknown => {
    ran += 1;
    return args;
  };
  await session.serve('x', { f: { handler } });

  const run = await session.prompt(7, 'Do it.', { remotes: ['x'] });
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  const { status, code, error, output, usage } = await run.result;
  const calls = events.flatMap((event) => (event.action === 'run-tool-call' ? [event.body] : []));
  const results = events.flatMap((event) => (event.action === 'run-tool-result' ? [event.body] : []));
  expect(JSON.stringify([events, hub.logs])).not.toContain(KEY);
  return {
    ...{ status, code, error, output, usage, ran },
    called: calls.map(({ callId }) => callId),
    answered: results.map(({ callId }) => callId),
    results: results.map(({ content }) => content),
    asked: server.requests.map(({ body }) => body),
  };
}

const call = (deltas: string, finish: string | null = 'tool_calls'): string =>
  `${start}${deltas}${chunk({ finish })}${done}`;
const one = toolDelta(f('{"p":1}', { index: 0, id: 'a' }));
const two = toolDelta(f('{"p":1}', { index: 0, id: 'a' }), f('{"p":2}', { index: 1, id: 'b' }));
const answer = stream(textStream('done'));
const wait = { 'retry-after': '0.02' };

const completed: readonly [what: string, answers: readonly Answer[], results: readonly string[]][] = [
  ['ordinary text', [answer], []],
  ['one call', [stream(call(one)), answer], ['{"p":1}']],
  ['K067: parallel calls', [stream(call(two)), answer], ['{"p":1}', '{"p":2}']],
  ['parallel calls, byte by byte', [streamByBytes(call(two)), answer], ['{"p":1}', '{"p":2}']],
  [
    'K069: no ids and no indexes',
    [stream(call(toolDelta(f('{"p":1}')) + toolDelta(f('{"p":2}')))), answer],
    ['{"p":1}', '{"p":2}'],
  ],
  ['K072: calls and the reason "stop"', [stream(call(two, 'stop')), answer], ['{"p":1}', '{"p":2}']],
  ['K072: calls and the reason "other"', [stream(call(two, 'other')), answer], ['{"p":1}', '{"p":2}']],
  ['K072: calls and no reason', [stream(call(two, null)), answer], ['{"p":1}', '{"p":2}']],
  [
    'K062: blank arguments',
    [stream(call(toolDelta(f('', { index: 0, id: 'a' }), f('   ', { index: 1, id: 'b' })))), answer],
    ['{}', '{}'],
  ],
  [
    'K079: a 429 with retry-after',
    [refuse(429, {}, wait), stream(call(one)), refuse(529, {}, wait), answer],
    ['{"p":1}'],
  ],
];

test('a run whose provider counts nothing completes, without tokens in its usage', async () => {
  const { status, usage } = await runOn([
    stream(call(one)),
    stream(call(chunk({ delta: { content: 'x' } }), 'stop')),
  ]);

  expect(status).toBe('completed');
  expect(usage).toEqual({ steps: 2, toolCalls: 1 });
});

test.each(completed)('a run completes: %s', async (_what, answers, results) => {
  const run = await runOn(answers);

  expect(run).toMatchObject({ status: 'completed', output: 'done', results, ran: results.length });
  expect(run.answered).toEqual(run.called);
});

test.each([
  ['two objects', '{"a":1}{"b":2}', 'tool_calls', 'error: the arguments are not valid JSON'],
  ['a cut text', '{"path":"a","content":"he', 'length', 'error: the arguments were cut off'],
  ['nothing at the length limit', '', 'length', 'error: the arguments were cut off'],
  [
    'a cut text, said to be whole',
    '{"path":"a","content":"he',
    'tool_calls',
    'error: the arguments were cut off',
  ],
])(
  'K064 K065: %s for arguments is never executed, and what goes back is valid JSON',
  async (_what, args, finish, error) => {
    const run = await runOn([stream(call(toolDelta(f(args, { index: 0, id: 'a' })), finish)), answer]);

    expect(run).toMatchObject({ status: 'completed', output: 'done', ran: 0 });
    expect(run.results).toEqual([expect.stringContaining(error)]);
    expect(run.asked[1]?.['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'a', content: expect.stringContaining(error) as unknown },
    ]);
  },
);

test('K077: empty reasoning, signed pieces and a signed call go back as they came, and none of it is shown', async () => {
  const signed = { extra_content: { google: { thought_signature: 'sig-c' } } };
  const piece = { type: 'reasoning.text', index: 0, format: 'x' };
  const thoughts = [
    { reasoning_content: '', reasoning_details: [{ ...piece, text: 'hm, ' }] },
    { reasoning_details: [{ ...piece, text: 'so', format: null }] },
    { reasoning_details: [{ type: 'reasoning.text', index: 0, signature: 'sig' }] },
    {
      reasoning_details: [
        { ...piece, index: 1, text: 'next' },
        { type: 'reasoning.encrypted', data: 'x' },
      ],
    },
  ];
  const calls = toolDelta(
    f('{"p":1}', { index: 0, id: 'a' }),
    f('{"p":2}', { index: 1, id: 'b', ...signed }),
  );
  const run = await runOn([stream(call(thoughts.map((delta) => chunk({ delta })).join('') + calls)), answer]);

  expect(run).toMatchObject({ status: 'completed', output: 'done' });
  expect(run.asked[1]?.['messages']).toMatchObject([
    { role: 'user' },
    {
      role: 'assistant',
      reasoning_content: '',
      reasoning_details: [
        { ...piece, text: 'hm, so', signature: 'sig' },
        { ...piece, index: 1, text: 'next' },
        { type: 'reasoning.encrypted', data: 'x' },
      ],
      tool_calls: [{ id: 'a' }, { id: 'b', ...signed }],
    },
    { role: 'tool', tool_call_id: 'a' },
    { role: 'tool', tool_call_id: 'b' },
  ]);
  expect(JSON.stringify(run.asked[1]).match(/extra_content/gu)).toHaveLength(1);
});

test('K077: reasoning goes back with its call to a server that refuses a conversation without it', async () => {
  const thought = chunk({ delta: { reasoning_content: 'hm' } });
  const run = await runOn([stream(call(thought + one)), answer]);

  expect(run).toMatchObject({ status: 'completed', output: 'done' });
  expect(run.asked[1]?.['messages']).toMatchObject([
    { role: 'user' },
    { role: 'assistant', reasoning_content: 'hm', tool_calls: [{ id: 'a' }] },
    { role: 'tool', tool_call_id: 'a' },
  ]);
});

const named = 'the model provider openai-compatible';
const begun = start + chunk({ delta: { content: 'Hel' } });

test.each([
  [
    'an error in mid-stream',
    stream(`${begun}data: {"error":{"message":"${KEY}"}}\n\n`),
    'failed in the middle of its answer',
  ],
  ['a malformed line', stream(`${begun}data: {"choices"\n\n`), 'failed in the middle of its answer'],
  ['a connection cut', breakOff(begun), 'failed in the middle of its answer'],
  ['a stall', stall(begun), 'did not answer in time'],
])('a run fails with what was said until then: %s', async (_what, broken, reason) => {
  expect(await runOn([stream(call(one)), broken])).toMatchObject({
    ...{ status: 'failed', code: 'model-failed', error: `${named} ${reason}`, output: 'Hel' },
    ...{ ran: 1, called: ['a'], answered: ['a'] },
  });
});

test.each([
  [
    'a stall',
    stall(start + toolDelta(f('{"p":1}', { index: 0, id: 'a' }))),
    `${named} did not answer in time`,
  ],
  ['a connection cut', breakOff(start + one), `${named} failed in the middle of its answer`],
  ['a 400', refuse(400, { error: { message: KEY } }), `${named} refused the request (400)`],
])('a run fails, and no call is made: %s', async (_what, broken, error) => {
  const run = await runOn([broken]);

  expect(run).toMatchObject({ status: 'failed', code: 'model-failed', error, ran: 0, called: [] });
  expect(run.asked).toHaveLength(1);
});
