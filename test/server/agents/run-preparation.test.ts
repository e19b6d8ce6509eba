import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ModelError, type Model, type ModelTool } from '../../../server/src/agents/models/model.js';
import { ScriptedModel, agent, agentsOf, calling, remote, says, stop, testRuns } from './run-fixtures.js';

const prompt = { userId: 'ada', agentId: 7, instruction: 'Do it.' };

/** A scripted model with a bound of tools and something to say about them. */
class ChoosyModel extends ScriptedModel implements Model {
  readonly prepared: (readonly ModelTool[])[] = [];
  readonly maxTools = 3;

  prepare(tools: readonly ModelTool[]): readonly string[] {
    this.prepared.push(tools);
    return ["tool 'f' is left out: a schema of its own"];
  }
}

test('RUN-19: what a model says of the tools is among the warnings of the run, and it says it once', async () => {
  const model = new ChoosyModel([[calling('current_time'), stop], says('done')]);
  await using stage = testRuns({ createModel: () => model, remotes: [remote('x', ['f'])] });
  await stage.finish({ remotes: ['gone', 'x'] });
  expect((await stage.events.event('run-started')).body.warnings).toEqual([
    "no connected remote named 'gone'; it is skipped",
    "tool 'f' is left out: a schema of its own",
  ]);
  expect(model.prepared).toHaveLength(1);
  for (const { tools } of model.requests) expect(tools).toBe(model.prepared[0]);
});

test('RUN-19: with more tools than a model takes the first lists them all', async () => {
  const list = calling('list_functions', '{"query":"f2"}');
  const model = new ChoosyModel([[list, stop], says('done')]);
  await using stage = testRuns({ createModel: () => model, remotes: [remote('x', ['f1', 'f2', 'f3'])] });
  await stage.finish({ remotes: ['x'] });
  const names = ['list_functions', 'current_time', 'f1', 'f2', 'f3'];
  expect((await stage.events.event('run-started')).body.tools.map(({ name }) => name)).toEqual(names);
  expect(model.results(1)[0]?.content).toBe(
    '{"total":1,"functions":[{"name":"f2","description":"","parameters":{"type":"object","properties":{}}}]}',
  );
});

test('RUN-19: as many tools as a model takes are given as they are, and a function keeps its name', async () => {
  const model = new ChoosyModel([says('done')]);
  await using few = testRuns({ createModel: () => model, remotes: [remote('x', ['f', 'g'])] });
  await few.finish({ remotes: ['x'] });
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['current_time', 'f', 'g']);

  const many = [remote('x', ['list_functions', 'f', 'g'])];
  await using stage = testRuns({ createModel: () => model, remotes: many });
  await stage.finish({ remotes: ['x'] });
  expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual([
    'hub_list_functions',
    'current_time',
    'list_functions',
    'f',
    'g',
  ]);
});

test('a model is made with its configuration and key, and may take its time', async () => {
  const asked: unknown[] = [];
  const model = new ScriptedModel([says('done')]);
  await using stage = testRuns({
    modelKeys: new Map([['7', 'a key']]),
    createModel: async (...given) => {
      asked.push(given);
      await turn();
      return model;
    },
  });
  expect(await stage.finish()).toMatchObject({ status: 'completed' });
  expect(asked).toEqual([[agent.model, 'a key']]);
});

test('a model that cannot be made fails the run after run-started, with the words that people shall read', async () => {
  await using stage = testRuns({
    createModel: async () => {
      throw new ModelError("install the package 'openai'");
    },
  });
  expect(await stage.finish({ remotes: ['gone'] })).toMatchObject({
    status: 'failed',
    code: 'model-failed',
    error: "install the package 'openai'",
    usage: { steps: 0, toolCalls: 0 },
  });
  expect(stage.events.all('run-started')[0]?.body.warnings).toHaveLength(1);
});

test('native tools that cannot be loaded fail the run, and only the log says why', async () => {
  await using stage = testRuns({
    nativeToolSets: {
      of: async () => {
        throw new Error('/home/me/tools.mjs: no such file');
      },
    },
  });
  expect(await stage.finish()).toMatchObject({
    status: 'failed',
    code: 'tools-failed',
    error: 'the native tools of the agent could not be loaded',
  });
  expect(stage.logged.find(({ msg }) => msg === 'run failed')).toMatchObject({
    err: { message: '/home/me/tools.mjs: no such file' },
  });
});

test('a run is cancelled, and ended by its time, while its model is being made', async () => {
  await using stage = testRuns({
    agents: agentsOf({ timeoutMs: 100 }),
    createModel: () => new Promise(() => {}),
  });
  const { runId } = stage.runs.start(prompt);
  await turn();
  stage.runs.cancel('ada', runId);
  expect((await stage.events.event('run-finished', runId)).body).toMatchObject({ status: 'cancelled' });
  expect(await stage.finish()).toMatchObject({ status: 'failed', code: 'time-limit' });
});
