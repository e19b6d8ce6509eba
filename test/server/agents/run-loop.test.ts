import { expect, test } from 'vitest';
import { AgentDirectory } from '../../../server/src/agents/agent-directory.js';
import { RemoteError } from '../../../server/src/remotes/remote-error.js';
import { FakeCalls, agent, calling, remote, says, stop, testRuns } from './run-fixtures.js';

const weather = remote('weather', ['get_forecast', 'f', 'g']);

test('a run speaks, calls a tool, tells its result to the model and ends with the last text', async () => {
  const calls = new FakeCalls((call) => call.answer('{"forecast":"sunny","n":9007199254740993}'));
  const steps = [
    [
      { type: 'text', text: 'One ' },
      { type: 'text', text: 'moment.' },
      calling('get_forecast', '{"city": "Rome"}', 'a'),
      stop,
    ] as const,
    says('It is sunny.'),
  ];
  await using stage = testRuns({ steps, calls, remotes: [weather] });
  const end = await stage.finish({ remotes: ['weather'] });

  expect(end).toMatchObject({
    status: 'completed',
    output: 'It is sunny.',
    usage: { steps: 2, toolCalls: 1 },
  });
  expect(end).not.toHaveProperty('error');
  expect(stage.events.events.map(({ event }) => event.action)).toEqual([
    'run-started',
    'run-text',
    'run-text',
    'run-tool-call',
    'run-tool-result',
    'run-text',
    'run-finished',
  ]);
  expect(stage.events.all('run-tool-call')[0]?.body).toMatchObject({
    callId: 'a',
    name: 'get_forecast',
    remotename: 'weather',
    function: 'get_forecast',
    args: { city: 'Rome' },
  });
  expect(stage.model.results(1)).toEqual([
    { callId: 'a', content: '{"forecast":"sunny","n":9007199254740993}', isError: false },
  ]);
});

test('the conversation begins with the instructions of the agent and keeps everything in its order', async () => {
  const thought = { type: 'provider-data', data: { signature: 's' } } as const;
  const steps = [
    [
      thought,
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      calling('current_time', ' ', 'c'),
      stop,
    ] as const,
    says('done'),
  ];
  await using stage = testRuns({ steps });
  await stage.finish(undefined, { instruction: 'When?' });
  expect(stage.model.requests[0]?.messages).toEqual([
    { role: 'system', text: 'Be brief.' },
    { role: 'user', text: 'When?' },
  ]);
  expect(stage.model.requests[1]?.messages.slice(2)).toMatchObject([
    {
      role: 'assistant',
      content: [
        thought,
        { type: 'text', text: 'ab' },
        { type: 'tool-call', callId: 'c', name: 'current_time', args: { text: '{}' } },
      ],
    },
    { role: 'tool', results: [{ callId: 'c', name: 'current_time', isError: false }] },
  ]);
});

test('an agent without instructions sends no system message', async () => {
  const { instructions: _, ...bare } = agent;
  await using stage = testRuns({ agents: new AgentDirectory([bare]) });
  await stage.finish();
  expect(stage.model.requests[0]?.messages.map(({ role }) => role)).toEqual(['user']);
});

test('arguments reach the call as the very text that the model wrote', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  const args = '{"n": 9007199254740993, "__proto__": {"x": 1e400}}';
  await using stage = testRuns({
    steps: [[calling('f', args), stop], says('done')],
    calls,
    remotes: [weather],
  });
  await stage.finish({ remotes: ['weather'] });
  expect(calls.started[0]?.request).toMatchObject({
    userId: 'ada',
    remotename: 'weather',
    functionName: 'f',
    args: { text: args },
  });
  expect(stage.events.events.find(({ event }) => event.action === 'run-tool-call')?.text).toContain(args);
});

test('calls of one step run side by side, and each gets one result, in the order of the calls', async () => {
  const steps = [
    [calling('f', '{}', '1'), calling('get_forecast', '{}', '2'), calling('g', '{}', '3'), stop],
    says('done'),
  ];
  await using stage = testRuns({ steps, remotes: [weather] });
  const end = stage.finish({ remotes: ['weather'] });
  const [first, second, third] = await stage.calls.untilStarted(3);
  third?.fail(new RemoteError('call-timeout', "remote 'weather' did not answer within 30000 ms"));
  second?.fail(new RemoteError('remote-disconnected', "remote 'weather' disconnected"));
  first?.answer('0');
  expect(await end).toMatchObject({ status: 'completed' });
  expect(stage.model.results(1)).toEqual([
    { callId: '1', content: '0', isError: false },
    {
      callId: '2',
      content: "error: remote 'weather' disconnected (it is unknown whether the function ran)",
      isError: true,
    },
    {
      callId: '3',
      content:
        "error: remote 'weather' did not answer within 30000 ms (it is unknown whether the function ran)",
      isError: true,
    },
  ]);
  expect(stage.events.all('run-tool-result').map(({ body }) => [body.callId, body.code])).toEqual([
    ['1', undefined],
    ['2', 'remote-disconnected'],
    ['3', 'call-timeout'],
  ]);
});

test('ids that a model leaves out or uses twice become ids of their own, in events and conversation alike', async () => {
  const steps = [
    [calling('f', '{}', 'a'), calling('f', '{}', 'a'), calling('f', '{}', ''), stop],
    [calling('f', '{}', 'a'), stop],
    says('done'),
  ];
  const calls = new FakeCalls((call) => call.answer('1'));
  await using stage = testRuns({ steps, calls, remotes: [weather] });
  await stage.finish({ remotes: ['weather'] });
  expect(stage.model.results(1).map(({ callId }) => callId)).toEqual(['a', 'call-1', 'call-2']);
  expect(stage.model.results(2).map(({ callId }) => callId)).toEqual(['call-3']);
  const told = stage.events.all('run-tool-call').map(({ body }) => body.callId);
  expect(told).toEqual(['a', 'call-1', 'call-2', 'call-3']);
});

test.each(['stop', 'tool-calls', 'other', 'length'] as const)(
  'calls are made when the model ends with %s',
  async (reason) => {
    const calls = new FakeCalls((call) => call.answer('1'));
    const steps = [
      [calling('f', '{}', '1'), calling('g', '{}', '2'), { type: 'finish', reason }] as const,
      says('done'),
    ];
    await using stage = testRuns({ steps, calls, remotes: [weather] });
    await stage.finish({ remotes: ['weather'] });
    expect(calls.started.map(({ request }) => request.functionName)).toEqual(['f', 'g']);
  },
);
