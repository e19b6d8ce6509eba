import { expect, test } from 'vitest';
import { JsonText } from '../../../server/src/json/json-text.js';
import { Repetition } from '../../../server/src/agents/repetition.js';
import { FakeCalls, calling, remote, says, stop, testRuns, type Step } from './run-fixtures.js';

/** How often each step counts as taken, one after the other; a step is `f` or `f+g`, arguments after a colon. */
function counts(...steps: string[]): number[] {
  const repetition = new Repetition();
  return steps.map((step) =>
    repetition.count(
      step.split('+').map((call, index) => {
        const [name = '', args = ''] = call.split(':');
        return { callId: `${index}`, name, args: { error: '' }, shownArgs: JsonText.of(args) };
      }),
    ),
  );
}

test('K078: the same step again and again is counted, and so are up to four steps in turn', () => {
  expect(counts('f', 'f', 'f', 'f', 'f')).toEqual([1, 2, 3, 4, 5]);
  expect(counts('f', 'g', 'f', 'g', 'f', 'g')).toEqual([1, 1, 2, 2, 3, 3]);
  expect(counts('a', 'b', 'c', 'd', 'a', 'b', 'c', 'd', 'a')).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3]);
  expect(counts('a', 'b', 'c', 'd', 'e', 'a', 'b', 'c', 'd', 'e', 'a').at(-1)).toBe(1);
  expect(counts('x', 'y', 'f', 'f', 'f').at(-1)).toBe(3);
});

test('other arguments, other calls beside it, or something new in between are no repetition', () => {
  expect(counts('f:1', 'f:2', 'f:3')).toEqual([1, 1, 1]);
  expect(counts('f+g:1', 'f+g:2', 'f+g:3')).toEqual([1, 1, 1]);
  const changing = counts('test', 'edit:1', 'test', 'edit:2', 'test', 'edit:3', 'test', 'edit:4', 'test');
  expect(Math.max(...changing)).toBeLessThan(3);
  expect(counts('f', 'f', 'g', 'f', 'f', 'h', 'f', 'f').at(-1)).toBeLessThan(3);
});

test('the order of the calls of one step does not matter', () => {
  expect(counts('f+g', 'g+f', 'f+g')).toEqual([1, 2, 3]);
});

const x = remote('x', ['f', 'g']);
const f = [calling('f'), stop];

test('K078: a call repeated a third time is answered with an error and not made, and the fifth time ends the run', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  await using stage = testRuns({ steps: [f], calls, remotes: [x] });
  expect(await stage.finish({ remotes: ['x'] })).toMatchObject({
    status: 'failed',
    code: 'repeated-calls',
    error: 'the model repeated the same calls over and over',
    usage: { steps: 5, toolCalls: 5 },
  });
  expect(calls.started).toHaveLength(2);
  expect(stage.events.all('run-tool-result').map(({ body }) => body.code)).toEqual([
    undefined,
    undefined,
    'too-many-calls',
    'too-many-calls',
    'too-many-calls',
  ]);
  expect(stage.model.results(3)).toMatchObject([
    {
      isError: true,
      content:
        "error: 'f' has been called with these arguments 2 times already and would say the same; " +
        'go on with what it said, or do something else (the function did not run)',
    },
  ]);
});

test('K078: two calls in turn are stopped in the same way', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  const alternating: Step = async function* ({ messages }) {
    yield calling(messages.filter(({ role }) => role === 'tool').length % 2 === 0 ? 'f' : 'g');
    yield stop;
  };
  await using stage = testRuns({ steps: [alternating], calls, remotes: [x], limits: { maxRunSteps: 16 } });
  expect(await stage.finish({ remotes: ['x'] })).toMatchObject({
    status: 'failed',
    code: 'repeated-calls',
    usage: { steps: 9 },
  });
  expect(calls.started.map(({ request }) => request.functionName)).toEqual(['f', 'g', 'f', 'g']);
});

test('a model that heeds the note goes on, and its other calls are made', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  const other = [calling('f', '{"a":1}'), stop];
  await using stage = testRuns({ steps: [f, f, f, other, f, says('done')], calls, remotes: [x] });
  expect(await stage.finish({ remotes: ['x'] })).toMatchObject({ status: 'completed', output: 'done' });
  expect(calls.started).toHaveLength(4);
});

test('the same call twice in one step is made twice', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  const twice = [calling('f', '{}', '1'), calling('f', '{}', '2'), stop];
  await using stage = testRuns({ steps: [twice, says('done')], calls, remotes: [x] });
  expect(await stage.finish({ remotes: ['x'] })).toMatchObject({ status: 'completed' });
  expect(calls.started).toHaveLength(2);
});
