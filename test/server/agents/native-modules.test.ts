import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  NATIVE_MODULE_TIMEOUT_MS,
  NativeModuleError,
  loadNativeModule,
} from '../../../server/src/agents/native-modules.js';
import { fakeClock } from '../../support/clock.js';
import { limits, load, moduleFolder, use } from './native-fixtures.js';

/** Why a module of this code cannot be used, without the folder it is in. */
async function refusal(code: string, name?: string): Promise<string> {
  const error: unknown = await load(code, name).catch((reason: unknown) => reason);
  if (!(error instanceof NativeModuleError)) throw error;
  return error.message.replace(/^.*?remotes-hub-tools-\w+\//u, '');
}

async function namesIn(code: string, name?: string): Promise<string[]> {
  return (await load(code, name)).tools.map(({ spec }) => spec.name);
}

const handler = 'handler: (args) => args';

test('every exported function spec with a handler is a tool, by the name of the export or its own', async () => {
  const { tools, warnings } = await load(`
    export const add = {
      description: 'Adds two numbers',
      parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
      verb: 'get',
      unknown: 'left out',
      handler: ({ a, b }) => a + b,
    };
    export const other = { name: 'my own name', ${handler} };
  `);
  expect(tools.map(({ spec }) => spec)).toEqual([
    {
      name: 'add',
      description: 'Adds two numbers',
      parameters: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
      verb: 'get',
    },
    { name: 'my own name' },
  ]);
  expect(warnings).toEqual([]);
  expect(await Promise.all(tools.map((tool) => use(tool, { a: 1, b: 2 })))).toEqual([3, { a: 1, b: 2 }]);
});

test.each([
  [
    'a default export of several',
    `export default { one: { ${handler} }, two: { ${handler} }, three: 3 };`,
    ['one', 'two'],
  ],
  ['a default export of one', `export default { name: 'one', ${handler} };`, ['one']],
  [
    'named exports win over the default',
    `export const one = { ${handler} }; export default { one: { description: 1, ${handler} }, two: one };`,
    ['one', 'two'],
  ],
  [
    'other exports are left out',
    `export const one = { ${handler} }; export const f = () => 1; export const n = null; export class C {}`,
    ['one'],
  ],
  [
    'names of the prototype',
    `export const constructor = { ${handler} }; export default { ['__proto__']: { ${handler} } };`,
    ['constructor', '__proto__'],
  ],
])('tools of a module: %s', async (_title, code, names) => {
  expect(await namesIn(code)).toEqual(names);
});

test('a CommonJS module is taken as well', async () => {
  expect(await namesIn(`exports.one = { ${handler} };`, 'tools.cjs')).toEqual(['one']);
  expect(await namesIn(`module.exports = { two: { ${handler} } };`, 'tools.cjs')).toEqual(['two']);
});

test.each([
  ['export const x = ;', /^tools\.mjs cannot be loaded: \w+: /u],
  ['throw new Error("no database");', 'tools.mjs cannot be loaded: Error: no database'],
  ['throw null;', 'tools.mjs cannot be loaded: null'],
  ['import "./missing.mjs";', /^tools\.mjs cannot be loaded: Error: Cannot find module .*missing\.mjs/u],
  ['export const f = () => 1;', 'tools.mjs exports no tools: export function specs with a handler'],
  ['export const one = { description: "x" };', "tools.mjs: 'one' has no handler"],
  ['export const one = { parameters: {}, handler: "x" };', "tools.mjs: 'one' has no handler"],
  [
    `export const one = { name: 'x', ${handler} }; export const x = { ${handler} };`,
    "tools.mjs: the name 'x' is used twice",
  ],
  [`export const one = { name: '', ${handler} };`, /^tools\.mjs: 'one': name: /u],
  [`export const one = { description: 5, ${handler} };`, /^tools\.mjs: 'one': description: /u],
  [`export const one = { verb: 'post', ${handler} };`, /^tools\.mjs: 'one': verb: /u],
  [`export const one = { timeoutMs: 0, ${handler} };`, /^tools\.mjs: 'one': timeoutMs: /u],
  [`export const one = { maxCalls: 1n, ${handler} };`, /^tools\.mjs: 'one': .*BigInt/u],
  [
    `export const one = { parameters: { type: 'strin' }, ${handler} };`,
    "tools.mjs: 'one': function 'one': parameters/type: expected \"object\", since arguments are an object",
  ],
  [
    `export const one = { parameters: { $ref: 'https://x/y' }, ${handler} };`,
    /^tools\.mjs: 'one': function 'one': parameters/u,
  ],
  [
    `export const one = { result: { pattern: '(' }, ${handler} };`,
    /^tools\.mjs: 'one': function 'one': result\/pattern/u,
  ],
])('a module that cannot be used is refused by its file: %s', async (code, message) => {
  expect(await refusal(code)).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
});

test('a file that is missing or a folder is refused by its path', async () => {
  const missing = join(tmpdir(), 'nowhere', 'tools.mjs');
  await expect(loadNativeModule(missing, limits)).rejects.toThrow(
    `${missing} cannot be loaded: there is no such file`,
  );
  await expect(loadNativeModule(tmpdir(), limits)).rejects.toThrow(`${tmpdir()} cannot be loaded: `);
});

const pending = 'export const one = await new Promise(() => {});';

test('a module that never gets ready is refused at its deadline, 10 s unless another is given', async () => {
  using clock = fakeClock();
  const refused = refusal(pending);
  refused.catch(() => undefined); // awaited below
  await clock.advance(NATIVE_MODULE_TIMEOUT_MS - 1);
  expect(vi.getTimerCount()).toBe(1);
  await clock.advance(1);

  expect(await refused).toBe('tools.mjs cannot be loaded: it was not ready within 10 s');
  expect(vi.getTimerCount()).toBe(0);
});

test('another deadline is told as it is', async () => {
  using folder = moduleFolder();
  const file = folder.write('tools.mjs', pending);

  await expect(loadNativeModule(file, limits, 20)).rejects.toThrow(
    `${file} cannot be loaded: it was not ready within 0.02 s`,
  );
});

test.each([
  ['is loaded', `export const one = { ${handler} };`],
  ['cannot be loaded', 'throw new Error("no");'],
])('a module that %s leaves no timer', async (_, code) => {
  using _clock = fakeClock();
  await load(code).catch(() => undefined);

  expect(vi.getTimerCount()).toBe(0);
});

test('what of a schema is not enforced is told', async () => {
  const { warnings } = await load(
    `export const one = { parameters: { properties: { a: { pattern: '(?=x)y' } } }, ${handler} };`,
  );
  expect(warnings).toEqual([expect.stringContaining("function 'one': parameters/properties/a/pattern")]);
});
