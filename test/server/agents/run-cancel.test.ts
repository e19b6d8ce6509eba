import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { NativeTool } from '../../../server/src/agents/native-tool.js';
import { fakeClock } from '../../support/clock.js';
import {
  FakeCalls,
  calling,
  remote,
  says,
  stop,
  testRuns,
  type Step,
  type TestRuns,
} from './run-fixtures.js';

const x = remote('x', ['f', 'g']);
const prompt = { userId: 'ada', agentId: 7, instruction: 'Do it.', options: { remotes: ['x'] } };

async function expectCancelled(stage: TestRuns, runId: string): Promise<void> {
  expect((await stage.events.event('run-finished', runId)).body).toMatchObject({ status: 'cancelled' });
  expect(() => stage.runs.cancel('ada', runId)).toThrow(`no run with id '${runId}'`);
}

/** Says something and then ignores everything, its signal too. */
const deaf: Step = async function* () {
  yield { type: 'text', text: 'Let me see' };
  await new Promise(() => {});
};

test('RUN-09: a run that has not begun is cancelled without asking the model', async () => {
  await using stage = testRuns();
  const { runId } = stage.runs.start(prompt);
  stage.runs.cancel('ada', runId);
  await expectCancelled(stage, runId);
  expect(stage.model.requests).toEqual([]);
  expect(stage.events.events.map(({ event }) => event.action)).toEqual(['run-started', 'run-finished']);
});

test('RUN-09: a run whose model hangs is cancelled at once and keeps what was said', async () => {
  await using stage = testRuns({ steps: [deaf] });
  const { runId } = stage.runs.start(prompt);
  await stage.events.event('run-text');
  stage.runs.cancel('ada', runId);
  await expectCancelled(stage, runId);
  expect(stage.model.requests[0]?.signal.aborted).toBe(true);
  expect(stage.events.all('run-finished')[0]?.body.output).toBe('Let me see');
});

test.each(['throws', 'just ends', 'finishes'] as const)(
  'RUN-09: a model that %s when it is aborted is cancelled, not failed',
  async (ending) => {
    const obedient: Step = async function* ({ signal }) {
      yield { type: 'text', text: 'hm' };
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve());
      });
      if (ending === 'throws') throw new Error('aborted');
      if (ending === 'finishes') yield* [calling('f'), stop];
    };
    await using stage = testRuns({ steps: [obedient], remotes: [x] });
    const { runId } = stage.runs.start(prompt);
    await stage.events.event('run-text');
    stage.runs.cancel('ada', runId);
    await expectCancelled(stage, runId);
    expect(stage.calls.started).toEqual([]);
    expect(stage.logged.some(({ msg }) => msg === 'run failed')).toBe(false);
  },
);

test('RUN-09: pending calls are cancelled, those that ended keep their results, and each has one', async () => {
  const steps = [[calling('f', '{}', '1'), calling('g', '{}', '2'), calling('f', '{}', '3'), stop]];
  await using stage = testRuns({ steps, remotes: [x] });
  const { runId } = stage.runs.start(prompt);
  const calls = await stage.calls.untilStarted(3);
  calls[1]?.answer('"late for nothing"');
  stage.runs.cancel('ada', runId);
  await expectCancelled(stage, runId);
  expect(calls.map(({ reasons }) => reasons)).toEqual([['call-cancelled'], [], ['call-cancelled']]);
  expect(
    stage.events.all('run-tool-result').map(({ body }) => [body.callId, body.code, body.content]),
  ).toEqual([
    ['1', 'call-cancelled', 'error: the caller cancelled the call (it is unknown whether the function ran)'],
    ['2', undefined, '"late for nothing"'],
    ['3', 'call-cancelled', 'error: the caller cancelled the call (it is unknown whether the function ran)'],
  ]);
  expect(stage.model.requests).toHaveLength(1);
});

test('RUN-09: a native tool that hangs is left behind, and knows by its signal', async () => {
  const nativeTools = new Map<string, NativeTool>();
  let toldBy: AbortSignal | undefined;
  const started = new Promise<void>((resolve) => {
    nativeTools.set('hang', {
      spec: { name: 'hang' },
      run: (_, { signal }) => {
        toldBy = signal;
        resolve();
        return new Promise(() => {});
      },
    });
  });
  await using stage = testRuns({ steps: [[calling('hang'), stop]], nativeTools });
  const { runId } = stage.runs.start({ ...prompt, options: { tools: ['hang'] } });
  await started;
  stage.runs.cancel('ada', runId);
  await expectCancelled(stage, runId);
  expect(toldBy?.aborted).toBe(true);
  expect(stage.events.all('run-tool-result')[0]?.body).toMatchObject({
    code: 'call-cancelled',
    content: 'error: the run was cancelled (it is unknown whether the function ran)',
  });
});

test('a cancel in the very turn in which the last result comes still cancels the run', async () => {
  await using stage = testRuns({ steps: [[calling('f'), stop], says('never said')], remotes: [x] });
  const { runId } = stage.runs.start(prompt);
  const [call] = await stage.calls.untilStarted(1);
  call?.answer('1');
  stage.runs.cancel('ada', runId);
  await expectCancelled(stage, runId);
  expect(stage.model.requests).toHaveLength(1);
});

test('WIRE-10: a cancel in the very turn in which the model fails is answered before the run ends, as cancelled', async () => {
  let fail = (): void => {};
  const failing: Step = async function* () {
    yield { type: 'text', text: 'hm' };
    await new Promise<void>((_, reject) => {
      fail = () => reject(new Error('down'));
    });
  };
  await using stage = testRuns({ steps: [failing] });
  const { runId } = stage.runs.start(prompt);
  await stage.events.event('run-text');
  await turn();
  fail();
  stage.runs.cancel('ada', runId);
  for (let tick = 0; tick < 50; tick += 1) await Promise.resolve();
  expect(stage.events.all('run-finished')).toEqual([]);
  await expectCancelled(stage, runId);
});

test('WIRE-10: neither a prompt nor a cancel is followed by an event in its own turn', async () => {
  await using stage = testRuns({ steps: [deaf] });
  const { runId } = stage.runs.start(prompt);
  await Promise.resolve().then(() => Promise.resolve());
  expect(stage.events.events).toEqual([]);
  await stage.events.event('run-text');
  const before = stage.events.events.length;
  stage.runs.cancel('ada', runId);
  for (let tick = 0; tick < 20; tick += 1) await Promise.resolve();
  expect(stage.events.events).toHaveLength(before);
  await expectCancelled(stage, runId);
});

test('RUN-09: cancelling twice is harmless while the run ends, and finds no run when it has ended', async () => {
  await using stage = testRuns({ steps: [deaf] });
  const { runId } = stage.runs.start(prompt);
  await stage.events.event('run-text');
  stage.runs.cancel('ada', runId);
  stage.runs.cancel('ada', runId);
  await expectCancelled(stage, runId);
  expect(stage.events.all('run-finished')).toHaveLength(1);
});

test('RUN-09: an unknown run, an ended one and one of another user are not found', async () => {
  await using stage = testRuns({ steps: [deaf] });
  const notFound = (userId: string, runId: string) =>
    expect(() => stage.runs.cancel(userId, runId)).toThrow(
      expect.objectContaining({ code: 'run-not-found', message: `no run with id '${runId}'` }),
    );
  const { runId } = stage.runs.start(prompt);
  notFound('ada', 'nope');
  notFound('eve', runId);
  notFound('ada', '__proto__');
  stage.runs.cancel('ada', runId);
  await stage.events.event('run-finished', runId);
  notFound('ada', runId);
});

test("RUN-08: a user's runs are cancelled some time after the last session has left, and nobody else's", async () => {
  using clock = fakeClock();
  await using stage = testRuns({ steps: [deaf], limits: { runGraceMs: 20_000 } });
  const ids = ['ada', 'ada', 'eve'].map((userId) => stage.runs.start({ ...prompt, userId }).runId);
  stage.runs.userLeft('ada');
  stage.runs.userLeft('nobody');
  await clock.advance(19_999);
  expect(stage.events.all('run-finished')).toEqual([]);
  await clock.advance(1);
  for (const runId of ids.slice(0, 2)) await expectCancelled(stage, runId);
  expect(stage.events.all('run-finished')).toHaveLength(2);
  expect(stage.runs.size).toBe(1);
});

test('RUN-08: a user who comes back in time saves the runs, and each leaving has its own time', async () => {
  using clock = fakeClock();
  await using stage = testRuns({ steps: [deaf], limits: { runGraceMs: 20_000 } });
  const { runId } = stage.runs.start(prompt);
  stage.runs.userLeft('ada');
  await clock.advance(19_999);
  stage.runs.userArrived('ada');
  await clock.advance(60_000);
  expect(stage.runs.size).toBe(1);
  stage.runs.userLeft('ada');
  await clock.advance(19_999);
  expect(stage.runs.size).toBe(1);
  await clock.advance(1);
  await expectCancelled(stage, runId);
});

test('RUN-08: no timer of an absent user outlives the runs, whether they end by themselves or at shutdown', async () => {
  using _clock = fakeClock();
  let finish = (): void => {};
  const waiting: Step = async function* () {
    await new Promise<void>((resolve) => (finish = resolve));
    yield stop;
  };
  await using stage = testRuns({ steps: [waiting, deaf] });
  const { runId } = stage.runs.start(prompt);
  await turn();
  stage.runs.userLeft('ada');
  finish();
  await stage.events.event('run-finished', runId);
  await turn();
  expect(vi.getTimerCount()).toBe(0);

  stage.runs.start(prompt);
  await stage.events.event('run-text');
  stage.runs.userLeft('ada');
  await stage.runs.close();
  expect(vi.getTimerCount()).toBe(0);
});

test('closing cancels every run in whatever state, waits for the last events, and is harmless when repeated', async () => {
  const calls = new FakeCalls();
  await using stage = testRuns({ steps: [deaf, [calling('f'), stop]], calls, remotes: [x] });
  stage.runs.start(prompt);
  await stage.events.event('run-text');
  stage.runs.start(prompt);
  await calls.untilStarted(1);
  stage.runs.start({ ...prompt, userId: 'eve' });
  await Promise.all([stage.runs.close(), stage.runs.close()]);
  expect(stage.events.all('run-finished').map(({ body }) => body.status)).toEqual([
    'cancelled',
    'cancelled',
    'cancelled',
  ]);
  expect(stage.runs.size).toBe(0);
  expect(() => stage.runs.start(prompt)).toThrow(
    expect.objectContaining({ code: 'shutting-down', message: 'the hub is shutting down' }),
  );
  await turn();
  expect(stage.events.all('run-finished')).toHaveLength(3);
});
