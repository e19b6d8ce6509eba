import { expect, test } from 'vitest';
import { readArguments } from '../../../server/src/agents/tool-arguments.js';
import { FakeCalls, calling, remote, says, stop, testRuns } from './run-fixtures.js';

test.each(['', '   ', '\n\t'])('blank arguments %j are an empty object', (text) => {
  expect(readArguments(text, false)).toMatchObject({ arguments: { text: { text: '{}' }, value: {} } });
});

test('arguments keep their text, and own __proto__ keys', () => {
  const text = ' {"__proto__": 1, "a": 1.0}\n';
  const read = readArguments(text, false);
  expect(read).toMatchObject({ arguments: { text: { text } } });
  expect('arguments' in read && Object.hasOwn(read.arguments.value, '__proto__')).toBe(true);
});

test.each([
  ['{"city":"Ro', 'the arguments were cut off; the function did not run'],
  ['{"a":[1,2', 'the arguments were cut off; the function did not run'],
  ['{"a":"\\"}', 'the arguments were cut off; the function did not run'],
  ['{"a":1}{"b":2}', 'the arguments are not valid JSON; the function did not run'],
  ["{'a':1}", 'the arguments are not valid JSON; the function did not run'],
  ['}{', 'the arguments are not valid JSON; the function did not run'],
  ['"{\\"a\\":1}"', 'the arguments must be a JSON object, received string'],
  ['[1]', 'the arguments must be a JSON object, received array'],
  ['null', 'the arguments must be a JSON object, received null'],
  ['5', 'the arguments must be a JSON object, received number'],
  [`{"a":${'['.repeat(200)}${']'.repeat(200)}}`, 'the arguments are nested deeper than 128'],
])('the arguments %s are refused', (text, error) => {
  expect(readArguments(text, false)).toEqual({ error });
});

test('blank arguments of a model that hit its length limit were cut off', () => {
  expect(readArguments('', true)).toEqual({ error: 'the arguments were cut off; the function did not run' });
  expect(readArguments('{}', true)).toMatchObject({ arguments: { text: { text: '{}' } } });
});

test.each(['length', 'tool-calls'] as const)(
  'arguments that break off are never executed, and the model gets valid JSON back, after %s',
  async (reason) => {
    const calls = new FakeCalls((call) => call.answer('1'));
    const broken = '{"path":"a","content":"he';
    const steps = [[calling('f', broken), calling('g'), { type: 'finish', reason }] as const, says('done')];
    await using stage = testRuns({ steps, calls, remotes: [remote('x', ['f', 'g'])] });
    expect(await stage.finish({ remotes: ['x'] })).toMatchObject({
      status: 'completed',
      usage: { toolCalls: 2 },
    });
    expect(calls.started.map(({ request }) => request.functionName)).toEqual(['g']);
    expect(stage.model.results(1)[0]).toMatchObject({
      content: 'error: the arguments were cut off; the function did not run',
      isError: true,
    });
    expect(stage.model.requests[1]?.messages.at(-2)).toMatchObject({
      content: [{ args: { text: '{}' } }, { args: { text: '{}' } }],
    });
    expect(stage.events.all('run-tool-call')[0]?.body.args).toBe(broken);
    expect(stage.events.all('run-tool-result')[0]?.body.code).toBe('invalid-arguments');
  },
);

test('a call without arguments and one with blank ones both run with {}', async () => {
  const calls = new FakeCalls((call) => call.answer('1'));
  await using stage = testRuns({
    steps: [[calling('f', '', '1'), calling('f', '   ', '2'), stop], says('done')],
    calls,
    remotes: [remote('x', ['f'])],
  });
  await stage.finish({ remotes: ['x'] });
  expect(calls.started.map(({ request }) => request.args.text)).toEqual(['{}', '{}']);
});

test('blank arguments are not run with when the model hit its length limit', async () => {
  const steps = [[calling('f', ''), { type: 'finish', reason: 'length' }] as const, says('done')];
  await using stage = testRuns({ steps, remotes: [remote('x', ['f'])] });
  await stage.finish({ remotes: ['x'] });
  expect(stage.calls.started).toEqual([]);
  expect(stage.model.results(1)[0]?.isError).toBe(true);
});
