import type { NativeToolDefinition } from '@remotes-hub/server';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { loadTool, use } from './native-fixtures.js';

test('arguments are checked before the handler is called', async () => {
  const tool = await loadTool(`
    let calls = 0;
    export const count = {
      parameters: { type: 'object', properties: { by: { type: 'integer' } }, required: ['by'], additionalProperties: false },
      handler: ({ by }) => (calls += by),
    };
  `);
  const refused = use(tool, { by: 'x' });
  await expect(refused).rejects.toMatchObject({ code: 'invalid-arguments', executed: 'no' });
  await expect(refused).rejects.toThrow(/^arguments of count: \/by: /u);
  await expect(use(tool, {})).rejects.toMatchObject({ code: 'invalid-arguments' });
  expect(await use(tool, { by: 2 })).toBe(2);
});

test.each([
  ['undefined', null],
  ['null', null],
  ['0', 0],
  ['""', ''],
  ['false', false],
  ['Promise.resolve([1])', [1]],
  ['({ at: new Date(0), left: undefined })', { at: '1970-01-01T00:00:00.000Z' }],
  ['NaN', null],
])('a handler that returns %s has a result', async (value, result) => {
  expect(await use(await loadTool(`export const one = { handler: () => ${value} };`))).toEqual(result);
});

test.each([
  ['return 1n', 'function-failed', 'the result is no JSON: Do not know how to serialize a BigInt'],
  [
    'const a = []; a.push(a); return a',
    'function-failed',
    'the result is no JSON: Converting circular structure',
  ],
  ['return () => 1', 'function-failed', 'the result is no JSON: a function'],
  ['throw new Error("no ticket 7")', 'function-failed', 'no ticket 7'],
  ['return Promise.reject(new Error("no ticket 7"))', 'function-failed', 'no ticket 7'],
  ['throw ""', 'function-failed', 'the function failed without a message'],
])('the model reads what went wrong in a handler: %s', async (code, errorCode, message) => {
  const tool = await loadTool(`export const one = { handler: () => { ${code}; } };`);
  const failed = use(tool);
  await expect(failed).rejects.toMatchObject({ code: errorCode, executed: 'yes' });
  await expect(failed).rejects.toThrow(message);
});

test('a result that does not fit its schema fails', async () => {
  const tool = await loadTool(`export const one = { result: { type: 'object' }, handler: () => 5 };`);
  const failed = use(tool);
  await expect(failed).rejects.toMatchObject({ code: 'invalid-result' });
  await expect(failed).rejects.toThrow(/^result of one: /u);
});

test('a handler keeps the object it stands in', async () => {
  const tool = await loadTool(
    `export const one = { description: 'd', handler() { return this.description; } };`,
  );
  expect(await use(tool)).toBe('d');
});

test.each([
  ['of the hub', '', 30_000],
  ['of the spec', 'timeoutMs: 50,', 50],
])(
  'a handler that hangs fails after the time %s, and its signal says so',
  async (_title, field, timeoutMs) => {
    using clock = fakeClock();
    const tool = await loadTool(`
    export const one = {
      ${field}
      handler: (_args, { signal }) => new Promise(() => { globalThis.signalOfOne = signal; }),
    };
  `);
    const result = use(tool).catch((error: unknown) => error);
    await clock.advance(timeoutMs - 1);
    expect(Reflect.get(globalThis, 'signalOfOne')).toMatchObject({ aborted: false });
    await clock.advance(1);
    expect(await result).toMatchObject({
      code: 'call-timeout',
      message: `'one' did not answer within ${timeoutMs} ms`,
      executed: 'unknown',
    });
    expect(Reflect.get(globalThis, 'signalOfOne')).toMatchObject({ aborted: true });
    Reflect.deleteProperty(globalThis, 'signalOfOne');
  },
);

test('a run that ends is no longer kept by a handler, and its late failure harms nobody', async () => {
  const tool = await loadTool(`
    export const one = {
      handler: (_args, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('late')))),
    };
  `);
  const run = new AbortController();
  const result = use(tool, {}, run.signal);
  run.abort(new Error('the run was cancelled'));
  await expect(result).rejects.toThrow('the run was cancelled');
  await expect(use(tool, {}, run.signal)).rejects.toThrow('the run was cancelled');
});

test('a definition is typed by its arguments', async () => {
  const add = {
    description: 'Adds two numbers',
    handler: ({ a, b }: { a: number; b: number }) => a + b,
  } satisfies NativeToolDefinition<{ a: number; b: number }>;
  const plain: NativeToolDefinition = { handler: (args, { signal }) => [args, signal.aborted] };
  expect(add.handler({ a: 1, b: 2 })).toBe(3);
  expect(plain.handler({}, { signal: AbortSignal.abort() })).toEqual([{}, true]);
});
