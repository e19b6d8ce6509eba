import { runEventSchema, runGetReplySchema } from '@remotes-hub/protocol';
import { expect, test } from 'vitest';
import { agents, bodyOf, finished, prompt, waitingStep } from '../server/agents/hub-run-fixtures.js';
import { ScriptedModel, calling, says, stop, type Step } from '../server/agents/run-fixtures.js';
import { eventually } from '../support/eventually.js';
import { redisNote, redisPath } from '../support/redis.js';
import type { TestSession } from '../support/session.js';
import { startNodes, type NodesOptions } from './nodes.js';
import { mortalNode } from './resuming-nodes.js';

const cluster = test.skipIf(redisPath === undefined);

/** Nodes whose agent 7 runs on a scripted model. */
async function startStage(steps: readonly Step[], { config, ...options }: NodesOptions = {}) {
  const model = new ScriptedModel(steps);
  const nodes = await startNodes({
    ...options,
    config: { agents, ...config },
    options: { createModel: () => model },
  });
  return { nodes, model, [Symbol.asyncDispose]: () => nodes[Symbol.asyncDispose]() };
}

/** The numbers of the events of runs that a session was told of, in their order. */
function seqsOf(session: TestSession): number[] {
  return session.frames.flatMap((frame) => {
    const read = runEventSchema.safeParse(JSON.parse(frame));
    return read.success ? read.data.body.seq : [];
  });
}

const notFound = (runId: string) => ({ code: 'run-not-found', error: `no run with id '${runId}'` });

cluster(
  `CLUSTER-09: the events of a run reach the sessions of all nodes, in their order${redisNote}`,
  async () => {
    const parts = Array.from({ length: 50 }, (_, n) => ({ type: 'text' as const, text: `${n} ` }));
    await using stage = await startStage([[...parts, stop]], { count: 3 });
    const sessions = await Promise.all(stage.nodes.all.map(async (hub) => hub.connect()));
    const stranger = await stage.nodes.node(1).connect({ user: 'u2' });
    const [first] = sessions;
    if (first === undefined) throw new Error('there is a node');
    const runId = await prompt(first);
    for (const session of sessions) {
      expect(await finished(session)).toMatchObject({ runId, status: 'completed' });
      const seqs = seqsOf(session);
      expect(seqs).toEqual(Array.from(seqs, (_, n) => n));
      expect(seqs.length).toBeGreaterThan(2);
      const texts = session.events.filter(({ action }) => action === 'run-text').map(bodyOf);
      expect(texts.map(({ text }) => text).join('')).toBe(parts.map(({ text }) => text).join(''));
    }
    await stranger.settle();
    expect(seqsOf(stranger)).toEqual([]);
  },
);

cluster(
  'CLUSTER-09: a session of another node gets what it missed of a run by run-get, and the rest live',
  async () => {
    const waiting = waitingStep();
    await using stage = await startStage([waiting.step]);
    const early = await stage.nodes.node(0).connect();
    const runId = await prompt(early);
    await early.event('run-text');
    const late = await stage.nodes.node(1).connect();
    const reply = runGetReplySchema.parse(await late.request('run-get', { runId }));
    expect(reply).toMatchObject({ runId, firstSeq: 0, isFinished: false });
    waiting.go();
    await finished(late);
    const seqs = [...reply.events.map(({ body }) => body.seq), ...seqsOf(late)];
    expect([...new Set(seqs)].toSorted((one, other) => one - other)).toEqual([0, 1, 2, 3]);

    const [here, there] = [
      await early.request('run-get', { runId }),
      await late.request('run-get', { runId }),
    ];
    expect({ ...there, nonce: 0 }).toEqual({ ...here, nonce: 0 });
    expect(there).toMatchObject({ isFinished: true });
  },
);

cluster('CLUSTER-09: run-cancel of another node ends a run, once', async () => {
  const waiting = waitingStep();
  await using stage = await startStage([waiting.step]);
  const here = await stage.nodes.node(0).connect();
  const there = await stage.nodes.node(1).connect();
  const runId = await prompt(here);
  await there.event('run-text');
  expect(await there.request('run-cancel', { runId })).not.toHaveProperty('error');
  expect(await finished(here)).toMatchObject({ runId, status: 'cancelled' });
  expect(await finished(there)).toMatchObject({ runId, status: 'cancelled' });
  expect(await there.request('run-cancel', { runId })).toMatchObject(notFound(runId));
});

cluster(
  "CLUSTER-09: another user's run, and one that never was, is run-not-found on every node",
  async () => {
    const waiting = waitingStep();
    await using stage = await startStage([waiting.step]);
    const owner = await stage.nodes.node(0).connect();
    const runId = await prompt(owner);
    for (const hub of stage.nodes.all) {
      const stranger = await hub.connect({ user: 'u2' });
      for (const action of ['run-get', 'run-cancel']) {
        expect(await stranger.request(action, { runId })).toMatchObject(notFound(runId));
        expect(await stranger.request(action, { runId: '*' })).toMatchObject(notFound('*'));
      }
    }
    waiting.go();
    expect(await finished(owner)).toMatchObject({ status: 'completed' });
  },
);

cluster('CLUSTER-09: a run goes on while its user has a session on another node only', async () => {
  const waiting = waitingStep();
  await using stage = await startStage([waiting.step], { config: { limits: { runGraceMs: 1 } } });
  const here = await stage.nodes.node(0).connect();
  const there = await stage.nodes.node(1).connect();
  await prompt(here);
  await there.event('run-text');
  await here.close();
  await eventually(() => stage.nodes.node(0).hub.counts().sessions === 0, 'it has left');
  // the grace is over many times by then
  for (let n = 0; n < 20; n += 1) await there.settle();
  waiting.go();
  expect(await finished(there)).toMatchObject({ status: 'completed', output: 'onetwo' });
});

cluster(
  'CLUSTER-09: a run is cancelled after its grace when its user has no session left anywhere',
  async () => {
    const waiting = waitingStep();
    await using stage = await startStage([waiting.step], { config: { limits: { runGraceMs: 50 } } });
    const here = await stage.nodes.node(0).connect();
    const there = await stage.nodes.node(1).connect();
    const runId = await prompt(here);
    await there.event('run-text');
    await here.close();
    await there.close();
    await stage.nodes.node(0).idle();
    const back = await stage.nodes.node(1).connect();
    const { events } = runGetReplySchema.parse(await back.request('run-get', { runId }));
    expect(events.at(-1)).toMatchObject({ action: 'run-finished', body: { status: 'cancelled' } });
  },
);

cluster(
  'CLUSTER-09: options.remotes names a remote of another node, whose functions are called',
  async () => {
    await using stage = await startStage([[calling('p_f', '{"n":1e400}'), stop], says('done')]);
    const serving = await stage.nodes.node(1).connect({ v1: true });
    await serving.serve('x', ['f']);
    const session = await stage.nodes.node(0).connect();
    await prompt(session, { remotes: [{ name: 'x', prefix: 'p_' }] });
    await serving.answer({ from: 'node 1' });
    expect(await finished(session)).toMatchObject({ status: 'completed', output: 'done' });
    expect(stage.model.requests[0]?.tools.map(({ name }) => name)).toEqual(['p_f']);
    expect(stage.model.results(1)).toEqual([{ callId: 'p_f', content: '{"from":"node 1"}', isError: false }]);
    expect(serving.frames.some((frame) => frame.includes('"args":{"n":1e400}'))).toBe(true);
  },
);

cluster(
  'CLUSTER-09: a remote of no node is skipped with a warning, and one that goes fails its calls alone',
  async () => {
    await using stage = await startStage([[calling('f'), stop], says('done')]);
    const serving = await stage.nodes.node(1).connect({ v1: true });
    await serving.serve('x', ['f']);
    const session = await stage.nodes.node(0).connect();
    await prompt(session, { remotes: ['x', 'nobody'] });
    await serving.next('remote-call');
    await serving.close();
    expect(await finished(session)).toMatchObject({ status: 'completed', output: 'done' });
    expect(bodyOf(await session.event('run-started'))).toMatchObject({
      warnings: [expect.stringContaining('nobody') as string],
    });
    expect(stage.model.results(1)).toMatchObject([{ callId: 'f', isError: true }]);
  },
);

cluster('CLUSTER-09: remote-lint tells of a remote of another node what its own node tells', async () => {
  await using stage = await startStage([says('')]);
  const serving = await stage.nodes.node(1).connect();
  await serving.serve('x', ['find station', 'f']);
  const session = await stage.nodes.node(0).connect();
  const here = await serving.request('remote-lint', { remotename: 'x', prefix: 'p_' });
  const there = await session.request('remote-lint', { remotename: 'x', prefix: 'p_' });
  expect(here).toHaveProperty('functions');
  expect({ ...there, nonce: 0 }).toEqual({ ...here, nonce: 0 });
  expect(await session.request('remote-lint', { remotename: 'y' })).toMatchObject({
    code: 'remote-not-connected',
  });
});

cluster('CLUSTER-09: a run is not found any more when its node has died', async () => {
  const waiting = waitingStep();
  await using mortal = mortalNode(0);
  await using stage = await startStage([waiting.step], { urlOf: mortal.urlOf });
  const here = await stage.nodes.node(0).connect();
  const there = await stage.nodes.node(1).connect();
  const runId = await prompt(here);
  await there.event('run-text');
  mortal.die();
  await eventually(
    () => stage.nodes.node(1).logs.some(({ msg }) => msg === 'a node has died'),
    'it is noticed',
  );
  expect(await there.request('run-get', { runId })).toMatchObject(notFound(runId));
  expect(await there.request('run-cancel', { runId })).toMatchObject(notFound(runId));
});
