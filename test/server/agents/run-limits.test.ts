import { expect, test } from 'vitest';
import type { ModelPart } from '../../../server/src/agents/models/model.js';
import { MAX_STEP_CHARACTERS } from '../../../server/src/agents/model-step.js';
import { MAX_CALLS_PER_STEP } from '../../../server/src/agents/run-budget.js';
import { RemoteError } from '../../../server/src/remotes/remote-error.js';
import { FakeCalls, agentsOf, calling, remote, says, stop, testRuns, type Step } from './run-fixtures.js';

const x = remote('x', ['f', 'g']);
/** Says something and calls `f` with other arguments than before. */
const again: Step = async function* ({ messages }) {
  yield* [{ type: 'text', text: 'again' }, calling('f', `{"n":${messages.length}}`), stop];
};

test('RUN-03: a model that calls for ever is stopped by the step limit, its last calls made and answered', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  await using stage = testRuns({ steps: [again], calls, remotes: [x] });
  expect(await stage.finish({ remotes: ['x'] })).toMatchObject({
    status: 'step-limit',
    code: 'step-limit',
    output: 'again',
    usage: { steps: 8, toolCalls: 8 },
  });
  expect(stage.events.all('run-tool-result')).toHaveLength(8);
});

test.each([
  [1, 1, 0],
  [3, 3, 0],
  [8, 8, 0],
  [9, 8, 1],
  [0, 8, 1],
  [-1, 8, 1],
  [1.5, 8, 1],
  ['3', 8, 1],
  [null, 8, 0],
  [{}, 8, 1],
])('RUN-03: maxSteps %j gives %i steps and %i warnings', async (maxSteps, steps, warnings) => {
  const calls = new FakeCalls((call) => call.answer('1'));
  await using stage = testRuns({ steps: [again], calls, remotes: [x] });
  expect(await stage.finish({ remotes: ['x'], maxSteps })).toMatchObject({
    status: 'step-limit',
    usage: { steps },
  });
  expect((await stage.events.event('run-started')).body.warnings).toHaveLength(warnings);
});

test('RUN-12: a function is called at most maxCalls times in one run, under whatever names', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  const steps = [
    [calling('f', '{}', '1'), calling('p_f', '{}', '2'), calling('f', '{}', '3'), stop],
    [calling('p_f', '{}', '4'), stop],
    says('done'),
  ];
  await using stage = testRuns({ steps, calls, remotes: [remote('x', [{ name: 'f', maxCalls: 2 }])] });
  await stage.finish({ remotes: ['x', { name: 'x', prefix: 'p_' }] });
  expect(calls.started).toHaveLength(2);
  expect(stage.events.all('run-tool-result').map(({ body }) => [body.isError, body.code])).toEqual([
    [false, undefined],
    [false, undefined],
    [true, 'too-many-calls'],
    [true, 'too-many-calls'],
  ]);
  expect(stage.model.results(2)[0]?.content).toBe("error: 'p_f' may be called at most 2 times in one run");

  await stage.finish({ remotes: ['x'] });
  expect(calls.started).toHaveLength(2); // the scripted model has nothing more to call
});

test('RUN-12: a call that did not run does not count, one that may have run does', async () => {
  const errors = [
    new RemoteError('invalid-arguments', 'arguments of f: /a: expected string'),
    new RemoteError('call-timeout', "remote 'x' did not answer within 30000 ms"),
  ];
  const calls = new FakeCalls((call) => {
    const error = errors.shift();
    if (error === undefined) call.answer('1');
    else call.fail(error);
  });
  await using stage = testRuns({
    steps: [again, again, again, says('done')],
    calls,
    remotes: [remote('x', [{ name: 'f', maxCalls: 1 }])],
  });
  await stage.finish({ remotes: ['x'] });
  expect(stage.events.all('run-tool-result').map(({ body }) => body.code)).toEqual([
    'invalid-arguments',
    'call-timeout',
    'too-many-calls',
  ]);
});

test('of too many calls in one step the first are made, and every one has its result', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  const step: ModelPart[] = Array.from({ length: 200 }, (_, index) => calling('f', '{}', `${index}`));
  const steps = [[...step, stop], says('done')];
  await using stage = testRuns({ agents: agentsOf({ maxToolCalls: 200 }), steps, calls, remotes: [x] });
  expect(await stage.finish({ remotes: ['x'] })).toMatchObject({
    status: 'completed',
    usage: { toolCalls: 200 },
  });
  expect(calls.started).toHaveLength(MAX_CALLS_PER_STEP);
  expect(stage.model.results(1).map(({ callId }) => callId)).toEqual(step.map((_, index) => `${index}`));
  expect(stage.model.results(1).at(-1)?.content).toBe(
    'error: only 128 calls of one step are made; this one was not',
  );
});

test('an endless answer fails the run', async () => {
  const endless = (part: ModelPart) =>
    async function* () {
      for (;;) yield part;
    };
  for (const part of [
    { type: 'text', text: 'x'.repeat(10_000) } as const,
    { type: 'text', text: '' } as const,
    calling('f'),
  ]) {
    await using stage = testRuns({ steps: [endless(part)] });
    const end = await stage.finish();
    expect(end).toMatchObject({ status: 'failed', error: 'the answer of the model is too long' });
    expect(end.output.length).toBeLessThanOrEqual(MAX_STEP_CHARACTERS);
  }
});
