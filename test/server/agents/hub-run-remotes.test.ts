import { expect, test } from 'vitest';
import { toolRules } from '../../../server/src/agents/provider-tools/tool-rules.js';
import { withProviderTools } from '../../../server/src/agents/provider-tools/with-provider-tools.js';
import { onOneNode, startTestHub } from '../../support/hub.js';
import type { Message } from '../../support/session.js';
import { agents, bodyOf, finished, prompt, serving, startHub, waitingStep } from './hub-run-fixtures.js';
import { ScriptedModel, calling, says, stop, type Step } from './run-fixtures.js';

test('RUN-06: a remote that goes away in the middle of a run and comes back is called again', async () => {
  const waiting = waitingStep();
  const afterwards: Step = async function* (request) {
    for await (const part of waiting.step(request)) if (part.type !== 'finish') yield part;
    yield calling('f', '{"n":2}');
    yield stop;
  };
  await using stage = await startHub([[calling('f', '{"n":1}'), stop], afterwards, says('done')]);
  const session = await stage.hub.connect();
  const remote = await serving(stage.hub);
  await prompt(session, { remotes: ['x'] });
  await remote.next('remote-call');
  await remote.close();
  await session.event('run-text');
  const again = await serving(stage.hub);
  waiting.go();
  await again.answer('back');
  expect(await finished(session)).toMatchObject({ status: 'completed' });
  expect(stage.model.results(1)).toMatchObject([{ isError: true }]);
  expect(stage.model.results(2)).toMatchObject([{ content: '"back"', isError: false }]);
});

test('RUN-09: run-cancel tells the serving session, ends the run within a second, and a late answer is ignored', async () => {
  await using stage = await startHub([[calling('f'), stop], says('never said')]);
  const session = await stage.hub.connect();
  const remote = await serving(stage.hub);
  const runId = await prompt(session, { remotes: ['x'] });
  const { requestId } = await remote.next('remote-call');
  const before = performance.now();
  expect(await session.request('run-cancel', { runId })).toMatchObject({ message: 'run cancelled' });
  expect(await finished(session)).toMatchObject({ status: 'cancelled', code: 'cancelled' });
  expect(performance.now() - before).toBeLessThan(1_000);
  expect(await remote.next('remote-call-cancel')).toMatchObject({ requestId, reason: 'call-cancelled' });
  const { ignoredMessages } = stage.hub.hub.counts();
  remote.send({ action: 'remote-call-result', requestId, result: 'too late' });
  await remote.settle();
  expect(stage.hub.hub.counts()).toMatchObject({
    ignoredMessages: ignoredMessages + 1,
    pendingCalls: 0,
    runs: 0,
  });
  expect(stage.model.requests).toHaveLength(1);
  expect(session.events.filter(({ action }) => String(action).startsWith('run-text'))).toEqual([]);
});

// on two nodes: a remote of the host program is connected later, when the others have been asked
onOneNode(
  'K054: two remotes and a native tool share a name: with prefixes all are there, without the first wins',
  async () => {
    const steps: Step[] = [
      [calling('a_current_time', '{}', '1'), calling('b_current_time', '{}', '2'), stop],
      says('done'),
      [calling('f', '{}', '3'), calling('current_time', '{}', '4'), stop],
      says('done'),
    ];
    await using stage = await startHub(steps, {
      agents: [{ id: 7, name: 'Helper', model: { provider: 'offline' }, tools: ['current_time'] }],
    });
    const session = await stage.hub.connect();
    for (const remotename of ['a', 'b']) {
      stage.hub.hub.connectRemote({
        userId: 'u1',
        remotename,
        functions: ['current_time', 'f'].map((name) => ({ name, handler: () => `${name} of ${remotename}` })),
      });
    }
    const names = (event: Message) =>
      (bodyOf(event)['tools'] as { name: string; remotename?: string }[]).map(
        ({ name, remotename = 'native' }) => `${remotename}: ${name}`,
      );

    const prefixed = [
      { name: 'a', prefix: 'a_' },
      { name: 'b', prefix: 'b_' },
    ];
    await prompt(session, { remotes: prefixed });
    const started = await session.event('run-started');
    expect(names(started)).toEqual([
      'native: current_time',
      'a: a_current_time',
      'a: a_f',
      'b: b_current_time',
      'b: b_f',
    ]);
    expect(bodyOf(started)['warnings']).toEqual([]);
    await finished(session);
    expect(stage.model.results(1).map(({ content }) => content)).toEqual([
      '"current_time of a"',
      '"current_time of b"',
    ]);

    await prompt(session, { remotes: ['a', 'b'] });
    const plain = await session.event('run-started');
    expect(names(plain)).toEqual(['native: current_time', 'a: f']);
    expect(bodyOf(plain)['warnings']).toHaveLength(3);
    await finished(session);
    const [f, time] = stage.model.results(3).map(({ content }) => content);
    expect(f).toBe('"f of a"');
    expect(time).toContain('"timeZone":"UTC"');
  },
);

test('500 functions of one remote are tools of a run, and any of them is called', async () => {
  const names = Array.from({ length: 500 }, (_, index) => `f${index}`);
  await using stage = await startHub([[calling('f499'), calling('f0'), stop], says('done')]);
  stage.hub.hub.connectRemote({
    userId: 'u1',
    remotename: 'many',
    functions: names.map((name) => ({ name, handler: () => name })),
  });
  const session = await stage.hub.connect();
  await prompt(session, { remotes: ['many'] });
  const tools = bodyOf(await session.event('run-started'))['tools'] as { name: string }[];
  expect(tools.map(({ name }) => name)).toEqual(names);
  expect(await finished(session)).toMatchObject({ status: 'completed' });
  expect(stage.model.results(1).map(({ content }) => content)).toEqual(['"f499"', '"f0"']);
});

test('a provider that takes 128 tools reaches the 500th, and events show its real name', async () => {
  const page = calling('list_functions', '{"query":"f499"}');
  const call = calling('call_function', '{"name":"f499","arguments":{"n":1}}');
  const adapter = new ScriptedModel([[page, stop], [call, stop], says('done')]);
  await using hub = await startTestHub(
    { agents },
    { createModel: () => withProviderTools(adapter, toolRules.anthropic) },
  );
  const { connected } = hub.hub.connectRemote({
    userId: 'u1',
    remotename: 'many',
    functions: Array.from({ length: 500 }, (_, index) => ({
      name: `f${index}`,
      handler: (args) => ({ index, args }),
    })),
  });
  await connected;
  const session = await hub.connect();
  await prompt(session, { remotes: ['many'] });
  await finished(session);
  const offered = adapter.requests[0]?.tools.map(({ name }) => name) ?? [];
  expect(offered).toHaveLength(128);
  expect([offered[0], offered.at(-1)]).toEqual(['list_functions', 'call_function']);
  expect(adapter.results(2)[0]).toMatchObject({ content: '{"index":499,"args":{"n":1}}', isError: false });
  await session.event('run-tool-call');
  expect(bodyOf(await session.event('run-tool-call'))).toMatchObject({
    name: 'f499',
    remotename: 'many',
    function: 'f499',
    args: { n: 1 },
  });
});
