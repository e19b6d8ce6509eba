import { expect, test } from 'vitest';
import type { NativeTool } from '../../../server/src/agents/native-tool.js';
import { MAX_TOOL_RESULT_BYTES } from '../../../server/src/agents/tool-outcome.js';
import { RemoteError } from '../../../server/src/remotes/remote-error.js';
import { FakeCalls, calling, remote, says, stop, testRuns } from './run-fixtures.js';

const weather = remote('weather', ['get_forecast', 'f', 'g']);

test.each(['{"a":1}', 'null', '[]', '""', '0', 'false'])(
  'K074: the result %s is told as its JSON text',
  async (result) => {
    const calls = new FakeCalls((call) => call.answer(result));
    await using stage = testRuns({ steps: [[calling('f'), stop], says('done')], calls, remotes: [weather] });
    await stage.finish({ remotes: ['weather'] });
    expect(stage.model.results(1)).toEqual([{ callId: 'f', content: result, isError: false }]);
  },
);

test.each([
  [new RemoteError('function-failed', 'boom'), 'error: boom'],
  [
    new RemoteError('invalid-arguments', 'arguments of f: /city: expected string'),
    'error: arguments of f: /city: expected string (the function did not run)',
  ],
  [
    new RemoteError('remote-not-connected', "no connected remote named 'weather'"),
    "error: no connected remote named 'weather' (the function did not run; the call may be tried again)",
  ],
  [
    new RemoteError('function-failed', 'refused', { executed: 'no' }),
    'error: refused (the function did not run)',
  ],
])(
  'RUN-07: the failure "$message" is an error tool result that says whether the function ran',
  async (error, content) => {
    const calls = new FakeCalls((call) => call.fail(error));
    await using stage = testRuns({ steps: [[calling('f'), stop], says('done')], calls, remotes: [weather] });
    expect(await stage.finish({ remotes: ['weather'] })).toMatchObject({
      status: 'completed',
      output: 'done',
    });
    expect(stage.model.results(1)).toEqual([{ callId: 'f', content, isError: true }]);
    expect(stage.events.all('run-tool-result')[0]?.body).toMatchObject({
      isError: true,
      code: error.code,
      content,
    });
  },
);

test.each(['serch_files', 'constructor', '__proto__', 'toString', ''])(
  'K071: a call of %j lists the tools there are',
  async (name) => {
    await using stage = testRuns({
      steps: [[calling(name, '{}', 'a'), stop], says('done')],
      remotes: [weather],
    });
    expect(await stage.finish({ remotes: ['weather'] })).toMatchObject({ status: 'completed' });
    const content = `error: there is no tool named '${name}'; tools: current_time, get_forecast, f, g`;
    expect(stage.events.all('run-tool-result')[0]?.body).toMatchObject({
      name,
      content,
      isError: true,
      code: 'function-not-found',
    });
  },
);

test('the list of tools that an unknown one is answered with is bounded', async () => {
  const many = remote(
    'many',
    Array.from({ length: 500 }, (_, index) => `function_${index}`),
  );
  await using stage = testRuns({ steps: [[calling('nope'), stop], says('done')], remotes: [many] });
  await stage.finish({ remotes: ['many'] });
  const content = stage.model.results(1)[0]?.content ?? '';
  expect(content.length).toBeLessThan(2_200);
  expect(content).toMatch(/function_0, .* and \d+ more$/u);
});

test('a huge result is cut at a whole character, with a note of its size', async () => {
  const result = JSON.stringify('é'.repeat(100_000));
  const calls = new FakeCalls((call) => call.answer(result));
  await using stage = testRuns({ steps: [[calling('f'), stop], says('done')], calls, remotes: [weather] });
  await stage.finish({ remotes: ['weather'] });
  const content = stage.model.results(1)[0]?.content ?? '';
  const [head, note] = content.split('\n');
  expect(Buffer.byteLength(head ?? '')).toBeGreaterThan(MAX_TOOL_RESULT_BYTES - 2);
  expect(head).toMatch(/^"é+$/u);
  expect(note).toBe('[cut off: the result has 200002 bytes, only its beginning is shown]');
});

test('what a native tool throws stays in the log, except what it means for the model', async () => {
  const nativeTools = new Map<string, NativeTool>([
    ['secretive', { spec: { name: 'secretive' }, run: () => Promise.reject(new Error('password 123')) }],
    [
      'clear',
      {
        spec: { name: 'clear' },
        run: () => {
          throw new RemoteError('function-failed', 'no such page');
        },
      },
    ],
    ['nothing', { spec: { name: 'nothing' }, run: () => null }],
  ]);
  const steps = [[calling('secretive'), calling('clear'), calling('nothing'), stop], says('done')];
  await using stage = testRuns({ steps, nativeTools });
  await stage.finish({ tools: ['secretive', 'clear', 'nothing'] });
  expect(stage.model.results(1).map(({ content }) => content)).toEqual([
    "error: 'secretive' failed",
    'error: no such page',
    'null',
  ]);
  expect(stage.logged.find(({ msg }) => msg === 'tool failed')).toMatchObject({
    tool: 'secretive',
    err: { message: 'password 123' },
  });
});
