// What a model really sends, on the loop: every call has one result, and the run goes on.
import { expect, test } from 'vitest';
import { ModelError, type FinishReason } from '../../../server/src/agents/models/model.js';
import { RemoteError } from '../../../server/src/remotes/remote-error.js';
import { FakeCalls, calling, remote, says, stop, testRuns, type Step } from './run-fixtures.js';

const x = remote('x', ['f', 'g', 'h']);
const answering = () => new FakeCalls((call) => call.answer('1'));

/** The arguments of every call in the last request: JSON that a provider takes back. */
function sentBack(stage: ReturnType<typeof testRuns>): unknown[] {
  return (stage.model.requests.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === 'assistant'
      ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part.args.parse()] : []))
      : [],
  );
}

test('K062: blank arguments are none', async () => {
  const calls = answering();
  const steps = [[calling('f', '', '1'), calling('g', ' \n ', '2'), stop], says('done')];
  await using stage = testRuns({ steps, calls, remotes: [x] });
  expect(await stage.finish({ remotes: ['x'] })).toMatchObject({ status: 'completed' });
  expect(calls.started.map(({ request }) => request.args.text)).toEqual(['{}', '{}']);
});

test.each([
  ['K064', '{"city":"Ro', 'error: the arguments were cut off; the function did not run'],
  ['K064', '{"a":1}{"b":2}', 'error: the arguments are not valid JSON; the function did not run'],
  ['K064', '"{\\"a\\":1}"', 'error: the arguments must be a JSON object, received string'],
  ['K064', '[1]', 'error: the arguments must be a JSON object, received array'],
])('%s: arguments %s are an error result, and valid JSON goes back', async (_id, args, content) => {
  const calls = answering();
  await using stage = testRuns({ steps: [[calling('f', args), stop], says('done')], calls, remotes: [x] });
  expect(await stage.finish({ remotes: ['x'] })).toMatchObject({ status: 'completed', output: 'done' });
  expect(calls.started).toEqual([]);
  expect(stage.model.results(1)).toEqual([{ callId: 'f', content, isError: true }]);
  expect(sentBack(stage)).toEqual([{}]);
  expect(stage.events.all('run-tool-call')[0]?.body.args).toBe(args);
});

test.each(['length', 'tool-calls'] as const)(
  'K065: arguments cut off with %s are never executed, and the model is told so',
  async (reason) => {
    const calls = answering();
    const cut = calling('f', '{"path":"a","content":"he');
    const steps = [[cut, { type: 'finish', reason } as const], says('done')];
    await using stage = testRuns({ steps, calls, remotes: [x] });
    expect(await stage.finish({ remotes: ['x'] })).toMatchObject({ status: 'completed' });
    expect(calls.started).toEqual([]);
    expect(stage.model.results(1)[0]?.content).toContain('the arguments were cut off');
  },
);

test('K067: of three calls one succeeds, one loses its remote, one times out: one result each, in order', async () => {
  const steps = [
    [calling('f', '{}', '1'), calling('g', '{}', '2'), calling('h', '{}', '3'), stop],
    says('ok'),
  ];
  await using stage = testRuns({ steps, remotes: [x] });
  const end = stage.finish({ remotes: ['x'] });
  const [first, second, third] = await stage.calls.untilStarted(3);
  third?.fail(new RemoteError('call-timeout', "remote 'x' did not answer within 30000 ms"));
  first?.answer('"one"');
  second?.fail(new RemoteError('remote-disconnected', "remote 'x' disconnected"));
  expect(await end).toMatchObject({ status: 'completed' });
  expect(stage.model.results(1).map(({ callId, isError }) => [callId, isError])).toEqual([
    ['1', false],
    ['2', true],
    ['3', true],
  ]);
});

test('K071: unknown names are answered with the names there are, those of the prototype too', async () => {
  const steps = [[calling('serch_files'), calling('constructor'), stop], says('done')];
  await using stage = testRuns({ steps, remotes: [x] });
  expect(await stage.finish({ remotes: ['x'] })).toMatchObject({ status: 'completed' });
  expect(stage.model.results(1).map(({ content }) => content)).toEqual([
    "error: there is no tool named 'serch_files'; tools: current_time, f, g, h",
    "error: there is no tool named 'constructor'; tools: current_time, f, g, h",
  ]);
});

test.each(['stop', 'other', 'content-filter'] satisfies FinishReason[])(
  'K072: calls are executed when the model ends with %s',
  async (reason) => {
    const calls = answering();
    const steps = [[calling('f'), calling('g'), { type: 'finish', reason } as const], says('done')];
    await using stage = testRuns({ steps, calls, remotes: [x] });
    expect(await stage.finish({ remotes: ['x'] })).toMatchObject({ status: 'completed' });
    expect(calls.started).toHaveLength(2);
  },
);

test.each(['{"a":1}', 'null', '[]', '""', '0'])(
  'K074: the result %s reaches the model as that text',
  async (json) => {
    const calls = new FakeCalls((call) => call.answer(json));
    await using stage = testRuns({ steps: [[calling('f'), stop], says('done')], calls, remotes: [x] });
    await stage.finish({ remotes: ['x'] });
    expect(stage.model.results(1)).toEqual([{ callId: 'f', content: json, isError: false }]);
  },
);

test('K079: a call is made once when the model fails for good after it, and its result was told', async () => {
  const calls = answering();
  const failing: Step = async function* () {
    yield { type: 'provider-data', data: {} };
    throw new ModelError('the model is overloaded');
  };
  await using stage = testRuns({ steps: [[calling('f'), stop], failing], calls, remotes: [x] });
  expect(await stage.finish({ remotes: ['x'] })).toMatchObject({
    status: 'failed',
    code: 'model-failed',
    error: 'the model is overloaded',
  });
  expect(calls.started).toHaveLength(1);
  expect(stage.events.all('run-tool-result')).toHaveLength(1);
});

test('a huge result is cut, with a note to the model', async () => {
  const calls = new FakeCalls((call) => call.answer(JSON.stringify('x'.repeat(100_000))));
  await using stage = testRuns({ steps: [[calling('f'), stop], says('done')], calls, remotes: [x] });
  await stage.finish({ remotes: ['x'] });
  const [result] = stage.model.results(1);
  expect(result?.content).toMatch(/\[cut off: the result has 100002 bytes, only its beginning is shown\]$/u);
  expect(result?.content.length).toBeLessThan(66_000);
});
