import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { builtInTools } from '../../../server/src/agents/native-tools.js';
import { NativeToolSets } from '../../../server/src/agents/native-tool-sets.js';
import { AgentDirectory } from '../../../server/src/agents/agent-directory.js';
import { ConfigError } from '../../../server/src/config/config-error.js';
import type { AgentConfig } from '../../../server/src/config/config-schema.js';
import { limits, moduleFolder } from './native-fixtures.js';
import { agent } from './run-fixtures.js';

function agentWith(id: string, tools: string[]): AgentConfig {
  return { ...agent, id, tools };
}

function setsOf(...agents: AgentConfig[]) {
  const warnings: unknown[] = [];
  const log = { warn: (...line: unknown[]) => void warnings.push(line) };
  return { sets: new NativeToolSets({ agents, builtIn: builtInTools(), limits, log }), warnings };
}

async function problemsOf(promise: Promise<unknown>): Promise<string[]> {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  if (!(error instanceof ConfigError)) throw error;
  return error.problems.map(({ path, message }) => `${path}: ${message.replace(/\/\S*\//gu, '')}`);
}

const one = 'export const one = { handler: () => 1 };';
const two = 'export const two = { handler: () => 2 };';

test("an agent has its own tools in their order; a prompt may name those and the hub's, and none of another agent", async () => {
  using folder = moduleFolder();
  const ada = agentWith('ada', [folder.write('one.mjs', one), 'current_time']);
  const eve = agentWith('eve', [folder.write('two.mjs', two)]);
  const { sets } = setsOf(ada, eve);
  const adas = await sets.of(ada);
  expect(adas.agentTools).toEqual(['one', 'current_time']);
  expect([...adas.nativeTools.keys()]).toEqual(['current_time', 'one']);
  const eves = await sets.of(eve);
  expect(eves.agentTools).toEqual(['two']);
  expect([...eves.nativeTools.keys()]).toEqual(['current_time', 'two']);
});

test('a module is loaded once, however many agents and prompts use it', async () => {
  using folder = moduleFolder();
  const file = folder.write('one.mjs', one);
  const agents = [agentWith('a', [file, file]), agentWith('b', [file])] as const;
  const { sets } = setsOf(...agents);
  const [first, second] = await Promise.all([sets.of(agents[0]), sets.of(agents[1])]);
  expect(first.nativeTools.get('one')).toBe(second.nativeTools.get('one'));
  expect(await sets.of(agents[0])).toBe(first);
  expect(first.agentTools).toEqual(['one']);
});

test('a module that could not be loaded is tried again when it is needed again', async () => {
  using folder = moduleFolder();
  const file = folder.write('late.mjs', one);
  rmSync(file);
  const ada = agentWith('ada', [file]);
  const { sets } = setsOf(ada);
  expect(await problemsOf(sets.of(ada))).toEqual([
    'agents[0].tools[0]: late.mjs cannot be loaded: there is no such file',
  ]);
  folder.write('late.mjs', one);
  expect((await sets.of(ada)).agentTools).toEqual(['one']);
});

test('an agent is listed with the names of its tools, never with a path', async () => {
  using folder = moduleFolder();
  const ada = agentWith('ada', ['current_time', folder.write('one.mjs', one)]);
  const { sets } = setsOf(ada);
  const directory = new AgentDirectory([ada], (each) => sets.namesOf(each));
  expect(directory.list()[0]?.tools).toEqual(['current_time']);
  await sets.loadAll();
  expect(directory.list()[0]?.tools).toEqual(['current_time', 'one']);
  expect(new AgentDirectory([ada]).list()[0]?.tools).toEqual(['current_time']);
});

test('every module that cannot be used is a problem of the configuration, with its place', async () => {
  using folder = moduleFolder();
  const good = agentWith('good', [folder.write('one.mjs', one)]);
  const bad = agentWith('bad', [
    'current_time',
    folder.write('empty.mjs', ''),
    folder.write('clash.mjs', 'export const current_time = { handler: () => 1 };'),
    folder.write('one.mjs', one),
    folder.write('again.mjs', one),
  ]);
  const { sets } = setsOf(good, bad);
  const problems = [
    'agents[1].tools[1]: empty.mjs exports no tools: export function specs with a handler',
    "agents[1].tools[2]: clash.mjs: there is a native tool 'current_time' already",
    "agents[1].tools[4]: again.mjs: there is a native tool 'one' already",
  ];
  expect(await problemsOf(sets.loadAll())).toEqual(problems);
  expect(await problemsOf(sets.of(bad))).toEqual(problems);
  expect((await sets.of(good)).agentTools).toEqual(['one']);
});

test('what of a schema is not enforced is logged once', async () => {
  using folder = moduleFolder();
  const file = folder.write(
    'one.mjs',
    `export const one = { parameters: { properties: { a: { pattern: '(?=x)y' } } }, handler: () => 1 };`,
  );
  const { sets, warnings } = setsOf(agentWith('a', [file]), agentWith('b', [file]));
  await sets.loadAll();
  expect(warnings).toHaveLength(1);
  expect(JSON.stringify(warnings)).toContain('parameters/properties/a/pattern');
});
