import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { ModelError, type ModelPart } from '../../../server/src/agents/models/model.js';
import type { NativeTool } from '../../../server/src/agents/native-tool.js';
import { fakeClock } from '../../support/clock.js';
import { FakeCalls, agentsOf, calling, remote, says, stop, testRuns, type Step } from './run-fixtures.js';

const x = remote('x', ['f', 'g']);
const prompt = { userId: 'ada', agentId: 7, instruction: 'Do it.', options: { remotes: ['x'] } };

const done = (inputTokens: number, outputTokens: number): ModelPart => ({
  type: 'finish',
  reason: 'stop',
  usage: { inputTokens, outputTokens },
});

test('RUN-13: tokens are summed over the steps that tell them, and absent when none does', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  const steps = [[calling('f'), done(10, 1)], [calling('g'), stop], [done(100, 20)]];
  await using stage = testRuns({ steps, calls, remotes: [x] });
  expect((await stage.finish({ remotes: ['x'] })).usage).toEqual({
    steps: 3,
    toolCalls: 2,
    inputTokens: 110,
    outputTokens: 21,
  });
  await using silent = testRuns();
  expect((await silent.finish()).usage).toEqual({ steps: 1, toolCalls: 0 });
});

test('RUN-13: a completed run has no code, a failed one says model-failed', async () => {
  const failing: Step = async function* () {
    yield { type: 'text', text: '' };
    throw new ModelError('the model is overloaded');
  };
  await using stage = testRuns({ steps: [says('done'), failing] });
  expect(await stage.finish()).not.toHaveProperty('code');
  expect(await stage.finish()).toMatchObject({
    status: 'failed',
    code: 'model-failed',
    error: 'the model is overloaded',
  });
});

test('RUN-14: a run that has used its tokens and still calls is ended, its calls answered and not made', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  const steps = [
    [calling('f', '{}', '1'), done(40, 9)],
    [calling('f', '{"a":1}', '2'), calling('g', '{}', '3'), done(50, 1)],
  ];
  await using stage = testRuns({ agents: agentsOf({ maxTokens: 100 }), steps, calls, remotes: [x] });
  expect(await stage.finish({ remotes: ['x'] })).toMatchObject({
    status: 'failed',
    code: 'token-limit',
    error: 'the run has used its 100 tokens',
    usage: { steps: 2, toolCalls: 3, inputTokens: 90, outputTokens: 10 },
  });
  expect(calls.started).toHaveLength(1);
  expect(stage.events.all('run-tool-result').map(({ body }) => [body.callId, body.code])).toEqual([
    ['1', undefined],
    ['2', 'too-many-calls'],
    ['3', 'too-many-calls'],
  ]);
});

test('RUN-14: an answer that goes beyond the tokens is an answer', async () => {
  const steps = [[{ type: 'text', text: 'dear' } as const, done(500, 500)]];
  await using stage = testRuns({ agents: agentsOf({ maxTokens: 100 }), steps });
  expect(await stage.finish()).toMatchObject({ status: 'completed', output: 'dear' });
});

test('RUN-14: calls beyond the limit of a run are answered and not made, and end it', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  const steps = [
    [calling('f', '{}', '1'), calling('g', '{}', '2'), stop],
    [calling('f', '{"a":1}', '3'), calling('g', '{"a":1}', '4'), stop],
  ];
  await using stage = testRuns({ agents: agentsOf({ maxToolCalls: 3 }), steps, calls, remotes: [x] });
  expect(await stage.finish({ remotes: ['x'] })).toMatchObject({
    status: 'failed',
    code: 'tool-limit',
    error: 'the run has made its 3 tool calls',
  });
  expect(calls.started).toHaveLength(3);
  expect(stage.events.all('run-tool-result').map(({ body }) => body.content)).toEqual([
    '1',
    '1',
    '1',
    'error: the run has made its 3 tool calls (the function did not run)',
  ]);
});

test('RUN-14: a run that uses its calls up and then answers is completed', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  const steps = [[calling('f', '{}', '1'), calling('g', '{}', '2'), stop], says('done')];
  await using stage = testRuns({ agents: agentsOf({ maxToolCalls: 2 }), steps, calls, remotes: [x] });
  expect(await stage.finish({ remotes: ['x'] })).toMatchObject({ status: 'completed' });
});

/** Says something and then ignores everything, its signal too. */
const deaf: Step = async function* () {
  yield { type: 'text', text: 'Let me see' };
  await new Promise(() => {});
};

test('RUN-15: a run whose model hangs is ended by its time, and keeps what was said', async () => {
  using clock = fakeClock();
  await using stage = testRuns({ agents: agentsOf({ timeoutMs: 5_000 }), steps: [deaf] });
  stage.runs.start(prompt);
  await stage.events.event('run-text');
  await clock.advance(4_999);
  expect(stage.events.all('run-finished')).toEqual([]);
  await clock.advance(1);
  expect((await stage.events.event('run-finished')).body).toMatchObject({
    status: 'failed',
    code: 'time-limit',
    error: 'the run took longer than 5000 ms',
    output: 'Let me see',
  });
  expect(stage.model.requests[0]?.signal.aborted).toBe(true);
  await turn();
  expect(vi.getTimerCount()).toBe(0);
});

test('RUN-15: at the end of its time pending calls are cancelled and each has one result', async () => {
  using clock = fakeClock();
  const hang: NativeTool = { spec: { name: 'hang' }, run: () => new Promise(() => {}) };
  const steps = [[calling('f', '{}', '1'), calling('hang', '{}', '2'), calling('g', '{}', '3'), stop]];
  await using stage = testRuns({
    agents: agentsOf({ timeoutMs: 5_000, tools: ['hang'] }),
    nativeTools: new Map([['hang', hang]]),
    steps,
    remotes: [x],
  });
  stage.runs.start(prompt);
  const [first, second] = await stage.calls.untilStarted(2);
  second?.answer('"in time"');
  await turn();
  await clock.advance(5_000);
  expect((await stage.events.event('run-finished')).body).toMatchObject({
    status: 'failed',
    code: 'time-limit',
  });
  expect(first?.reasons).toEqual(['call-cancelled']);
  expect(
    stage.events.all('run-tool-result').map(({ body }) => [body.callId, body.code, body.content]),
  ).toEqual([
    ['1', 'call-cancelled', 'error: the caller cancelled the call (it is unknown whether the function ran)'],
    [
      '2',
      'call-cancelled',
      'error: the run took longer than 5000 ms (it is unknown whether the function ran)',
    ],
    ['3', undefined, '"in time"'],
  ]);
  expect(stage.model.requests).toHaveLength(1);
});

test.each([
  [2_000, 2_000, 0],
  [9_000, 5_000, 1],
])('RUN-15: options.timeoutMs %i gives %i ms', async (timeoutMs, expected, warnings) => {
  using clock = fakeClock();
  await using stage = testRuns({ agents: agentsOf({ timeoutMs: 5_000 }), steps: [deaf] });
  stage.runs.start({ ...prompt, options: { timeoutMs } });
  await stage.events.event('run-text');
  await clock.advance(expected - 1);
  expect(stage.runs.size).toBe(1);
  await clock.advance(1);
  expect((await stage.events.event('run-finished')).body.code).toBe('time-limit');
  expect((await stage.events.event('run-started')).body.warnings).toHaveLength(warnings);
});

test('a cancel that was accepted before the time was up wins over it', async () => {
  using clock = fakeClock();
  await using stage = testRuns({ agents: agentsOf({ timeoutMs: 5_000 }), steps: [deaf] });
  const { runId } = stage.runs.start(prompt);
  await stage.events.event('run-text');
  stage.runs.cancel('ada', runId);
  await clock.advance(5_000);
  expect((await stage.events.event('run-finished')).body).toMatchObject({
    status: 'cancelled',
    code: 'cancelled',
  });
});

test('an agent may have fewer steps than the hub allows, and never more', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  const again: Step = async function* ({ messages }) {
    yield* [calling('f', `{"n":${messages.length}}`), stop];
  };
  for (const [maxSteps, steps] of [
    [3, 3],
    [50, 8],
  ] as const) {
    await using stage = testRuns({ agents: agentsOf({ maxSteps }), steps: [again], calls, remotes: [x] });
    expect((await stage.finish({ remotes: ['x'] })).usage.steps).toBe(steps);
  }
});
