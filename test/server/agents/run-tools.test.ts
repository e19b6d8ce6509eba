import { jsonObjectSchema } from '@remotes-hub/protocol';
import { expect, test } from 'vitest';
import { MAX_RUN_TOOLS, type ConnectedRemote } from '../../../server/src/agents/run-tools.js';
import type { NativeTool } from '../../../server/src/agents/native-tool.js';
import { agent, remote, testRuns } from './run-fixtures.js';
import { AgentDirectory } from '../../../server/src/agents/agent-directory.js';

const search: NativeTool = { spec: { name: 'search' }, run: () => 'native' };
const searcher = new AgentDirectory([{ ...agent, id: 'searcher', tools: ['current_time'] }]);

/** What a run starts with under these options. */
async function toolsFor(
  options: unknown,
  remotes: readonly ConnectedRemote[],
  nativeTools?: Map<string, NativeTool>,
) {
  await using stage = testRuns({ remotes, ...(nativeTools && { nativeTools }) });
  await stage.finish(options);
  const { tools, warnings } = (await stage.events.event('run-started')).body;
  const offered = stage.model.requests[0]?.tools ?? [];
  expect(offered.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
  expect(stage.logged.filter(({ msg }) => msg === 'run warning').map(({ warning }) => warning)).toEqual(
    warnings,
  );
  return { names: tools.map(({ name }) => name), tools, warnings, offered };
}

test('a run has the native tools, then every function of the remotes asked for, named exactly', async () => {
  const { tools, warnings } = await toolsFor({ remotes: ['weather', { name: 'repo', prefix: 'repo_' }] }, [
    remote('weather', ['get_forecast', '读取 it']),
    remote('repo', ['index']),
    remote('unasked', ['f']),
  ]);
  expect(tools).toEqual([
    { name: 'current_time' },
    { name: 'get_forecast', remotename: 'weather', function: 'get_forecast' },
    { name: '读取 it', remotename: 'weather', function: '读取 it' },
    { name: 'repo_index', remotename: 'repo', function: 'index' },
  ]);
  expect(warnings).toEqual([]);
});

test('K054: native tools win, then the first remote, and every hidden function gets one warning', async () => {
  const remotes = [remote('r1', ['current_time', 'fetch']), remote('r2', ['current_time', 'fetch'])];
  const prefixed = await toolsFor({ remotes: ['r1', { name: 'r2', prefix: 'r2_' }] }, remotes);
  expect(prefixed.names).toEqual(['current_time', 'fetch', 'r2_current_time', 'r2_fetch']);
  expect(prefixed.warnings).toEqual([
    "function 'current_time' of remote 'r1' is hidden by the native tool 'current_time'",
  ]);

  const plain = await toolsFor({ remotes: ['r1', 'r2'] }, remotes);
  expect(plain.tools).toEqual([
    { name: 'current_time' },
    { name: 'fetch', remotename: 'r1', function: 'fetch' },
  ]);
  expect(plain.warnings).toEqual([
    "function 'current_time' of remote 'r1' is hidden by the native tool 'current_time'",
    "function 'current_time' of remote 'r2' is hidden by the native tool 'current_time'",
    "function 'fetch' of remote 'r2' is hidden by 'fetch', a function of remote 'r1'",
  ]);
});

test('K061: a remote that is not connected is skipped with one warning, and no tools are offered without any', async () => {
  await using stage = testRuns({ agents: new AgentDirectory([{ ...agent, tools: [] }]) });
  expect(await stage.finish({ remotes: ['gone'] })).toMatchObject({ status: 'completed' });
  expect((await stage.events.event('run-started')).body).toMatchObject({
    tools: [],
    warnings: ["no connected remote named 'gone'; it is skipped"],
  });
  expect(stage.model.requests[0]?.tools).toEqual([]);
});

test("a remote of another user is not connected for this one's run", async () => {
  await using stage = testRuns({ remotes: [remote('x', ['f'])] });
  await stage.finish({ remotes: ['x'] }, { userId: 'eve' });
  expect((await stage.events.event('run-started')).body.warnings).toEqual([
    "no connected remote named 'x'; it is skipped",
  ]);
});

test.each([
  [['x', 'x', { name: 'x' }, { name: 'x', prefix: '' }], ['f'], 0],
  [['x', { name: 'x', prefix: 'p_' }], ['f', 'p_f'], 0],
  ['x', [], 1],
  [null, [], 0],
  [{ name: 'x' }, [], 1],
  [[5, { prefix: 'p' }, { name: '' }, null, ['x'], { name: 'x', prefix: 5 }], [], 6],
  [[5, 'x'], ['f'], 1],
])('K081: remotes %j', async (remotes, names, warnings) => {
  const found = await toolsFor({ remotes }, [remote('x', ['f'])]);
  expect(found.names).toEqual(['current_time', ...names]);
  expect(found.warnings).toHaveLength(warnings);
});

test('RUN-02: options.tools replaces the toolset by native tools, and remotes are not in play', async () => {
  const natives = new Map([['search', search]]);
  const found = await toolsFor(
    { tools: ['search', 'search', 'nope', 5], remotes: ['x', 'gone'] },
    [remote('x', ['f'])],
    natives,
  );
  expect(found.names).toEqual(['search']);
  expect(found.warnings).toEqual([
    'options.tools[3]: expected the name of a native tool; the entry is skipped',
    "there is no native tool named 'nope'; it is skipped",
  ]);
});

test.each([
  [[], [], 0],
  ['current_time', [], 1],
  [null, ['current_time', 'f'], 0],
])('RUN-02: options.tools %j', async (tools, names, warnings) => {
  const found = await toolsFor({ tools, remotes: ['x'] }, [remote('x', ['f'])]);
  expect(found.names).toEqual(names);
  expect(found.warnings).toHaveLength(warnings);
});

test('K056: parameters that are empty, null, absent or without properties become an object schema', async () => {
  const { offered } = await toolsFor({ remotes: ['x'] }, [
    remote('x', [
      { name: 'absent' },
      { name: 'null', parameters: null, description: null },
      { name: 'empty', parameters: {} },
      { name: 'bare', parameters: { type: 'object' } },
      { name: 'untyped', parameters: { properties: { a: {} }, oneOf: [] } },
    ]),
  ]);
  const texts = offered.slice(1).map(({ parameters }) => parameters.text);
  const none = '{"type":"object","properties":{}}';
  expect(texts).toEqual([none, none, none, none, '{"type":"object","properties":{"a":{}},"oneOf":[]}']);
  expect(offered.map(({ description }) => description).slice(1)).toEqual(['', '', '', '', '']);
});

test('own properties alone are options, whatever they are called', async () => {
  const hostile: unknown = JSON.parse(
    '{"__proto__":{"remotes":["x"],"maxSteps":1},"constructor":{"remotes":["x"]}}',
  );
  expect((await toolsFor(hostile, [remote('x', ['f'])])).names).toEqual(['current_time']);
  expect((await toolsFor(Object.create({ remotes: ['x'] }), [remote('x', ['f'])])).names).toEqual([
    'current_time',
  ]);
  for (const odd of [[], 'x', 5, null, undefined])
    expect((await toolsFor(odd, [])).names).toEqual(['current_time']);
});

test('functions with the names of the prototype are ordinary tools, and their schemas keep their keys', async () => {
  const text = '{"type":"object","properties":{"__proto__":{"type":"string"}}}';
  const { names, offered } = await toolsFor({ remotes: ['__proto__'] }, [
    remote('__proto__', [
      'constructor',
      { name: '__proto__', parameters: jsonObjectSchema.parse(JSON.parse(text)) },
    ]),
  ]);
  expect(names).toEqual(['current_time', 'constructor', '__proto__']);
  expect(offered[2]?.parameters.text).toBe(text);
});

test('200 functions are 200 tools; a run has a bound, and what is left out is told once', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`);
  expect((await toolsFor({ remotes: ['x'] }, [remote('x', many(200))])).names).toHaveLength(201);
  const found = await toolsFor({ remotes: ['a', { name: 'a', prefix: 'p' }] }, [remote('a', many(1_024))]);
  expect(found.names).toHaveLength(MAX_RUN_TOOLS);
  expect(found.warnings).toEqual([
    `remote 'a': a run has at most ${MAX_RUN_TOOLS} tools, the rest is skipped`,
  ]);
});

test('warnings are bounded, however many entries are wrong', async () => {
  const { warnings } = await toolsFor({ remotes: Array.from({ length: 5_000 }, () => 5) }, []);
  expect(warnings).toHaveLength(101);
  expect(warnings[0]).toBe('options.remotes: 5000 entries, only the first 1000 are read');
  expect(warnings.at(-1)).toBe('and 901 more warnings');
});

test('a configured native tool that the hub does not have is skipped with a warning', async () => {
  await using stage = testRuns({ agents: searcher, nativeTools: new Map() });
  await stage.finish(undefined, { agentId: 'searcher' });
  expect((await stage.events.event('run-started')).body).toMatchObject({
    tools: [],
    warnings: ["there is no native tool named 'current_time'; it is skipped"],
  });
});
