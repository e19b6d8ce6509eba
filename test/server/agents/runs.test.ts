import { expect, test } from 'vitest';
import { createModel } from '../../../server/src/agents/models/create-model.js';
import { RemoteError } from '../../../server/src/remotes/remote-error.js';
import type { ConnectedRemote } from '../../../server/src/agents/run-tools.js';
import { FakeCalls, calling, remote, says, stop, testRuns, type Step } from './run-fixtures.js';

const prompt = { userId: 'ada', agentId: 7, instruction: 'Do it.' };

test('RUN-01: a prompt is answered with the id of its run, and an unknown agent is refused', async () => {
  await using stage = testRuns();
  const ids = [stage.runs.start(prompt).runId, stage.runs.start({ ...prompt, agentId: '7' }).runId];
  expect(new Set(ids).size).toBe(2);
  expect(() => stage.runs.start({ ...prompt, agentId: '9' })).toThrow(
    expect.objectContaining({ code: 'agent-not-found', message: "no agent with id '9'" }),
  );
  for (const runId of ids)
    expect((await stage.events.event('run-finished', runId)).body.status).toBe('completed');
  expect(stage.events.all('run-started')[0]?.body).toMatchObject({ agentId: 7, seq: 0 });
});

test('RUN-04: more runs of one user than allowed are refused until one ends; other users have their own', async () => {
  const release: (() => void)[] = [];
  const waiting: Step = async function* () {
    await new Promise<void>((resolve) => release.push(resolve));
    yield stop;
  };
  await using stage = testRuns({ steps: [waiting], limits: { maxRunsPerUser: 2, maxRunSteps: 8 } });
  const { runId } = stage.runs.start(prompt);
  stage.runs.start(prompt);
  expect(() => stage.runs.start(prompt)).toThrow(
    expect.objectContaining({
      code: 'rate-limited',
      message: '2 runs are under way, the most a user may have',
      retryAfterMs: 1_000,
    }),
  );
  stage.runs.start({ ...prompt, userId: 'eve' });
  await new Promise((resolve) => setImmediate(resolve));
  release[0]?.();
  await stage.events.event('run-finished', runId);
  expect(() => stage.runs.start(prompt)).not.toThrow();
});

test('RUN-05: events go to the user of the run alone, and those of several runs keep their own count', async () => {
  await using stage = testRuns();
  await Promise.all([stage.finish(), stage.finish(), stage.finish(undefined, { userId: 'eve' })]);
  const users = new Map(stage.events.events.map(({ userId, event }) => [event.body.runId, userId]));
  expect([...users.values()].toSorted()).toEqual(['ada', 'ada', 'eve']);
  for (const { userId, event } of stage.events.events) expect(users.get(event.body.runId)).toBe(userId);
});

test('RUN-06: a remote is resolved once, at the start: one that goes gives error results, one that comes is not seen', async () => {
  const remotes: ConnectedRemote[] = [remote('x', ['f'])];
  const calls = new FakeCalls((call) =>
    call.fail(new RemoteError('remote-not-connected', "no connected remote named 'x'")),
  );
  const step = [calling('f', '{}', '1'), calling('g', '{}', '2'), stop];
  await using stage = testRuns({ steps: [step, says('done')], calls, remotes });
  const end = stage.finish({ remotes: ['x', 'y'] });
  remotes.splice(0, 1, remote('y', ['g']));
  expect(await end).toMatchObject({ status: 'completed' });
  expect(stage.model.results(1).map(({ content }) => content)).toEqual([
    "error: no connected remote named 'x' (the function did not run; the call may be tried again)",
    "error: there is no tool named 'g'; tools: current_time, f",
  ]);
});

test('the log tells of a run and its warnings, and nothing of what was said', async () => {
  await using stage = testRuns({ steps: [says('my answer')] });
  await stage.finish({ remotes: ['gone'] }, { instruction: 'my secret' });
  expect(stage.logged.map(({ msg }) => msg)).toEqual(['run warning', 'run finished']);
  expect(stage.logged[0]).toMatchObject({
    level: 40,
    userId: 'ada',
    agentId: 7,
    warning: "no connected remote named 'gone'; it is skipped",
  });
  expect(stage.logged[1]).toMatchObject({ status: 'completed', steps: 1, toolCalls: 0 });
  expect(JSON.stringify(stage.logged)).not.toMatch(/my (?:answer|secret)/u);
});

test('RUN-11: with the offline model a prompt about the weather calls the forecast and answers with it', async () => {
  const forecast = {
    name: 'get_forecast',
    description: 'Retrieve weather forecast for a location.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'City name.' } },
      required: ['city'],
    },
  };
  const calls = new FakeCalls((call) => call.answer('{"forecast":"sunny","city":"Rome"}'));
  await using stage = testRuns({ createModel, calls, remotes: [remote('weather-service', [forecast])] });
  const end = await stage.finish(
    { remotes: ['weather-service'] },
    { instruction: "What's the weather in Rome? Use your tools." },
  );
  expect(calls.started.map(({ request }) => [request.functionName, request.args.text])).toEqual([
    ['get_forecast', '{"city":"Rome"}'],
  ]);
  expect(end).toMatchObject({
    status: 'completed',
    output:
      'I am not a language model; I only match words.\nget_forecast answered: {"forecast":"sunny","city":"Rome"}',
    usage: { steps: 2, toolCalls: 1 },
  });
});
