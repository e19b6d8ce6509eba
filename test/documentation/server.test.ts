import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configSchema } from '../../server/src/config/config-schema.js';
import { resolveConfig } from '../../server/src/config/load-config.js';
import {
  repository,
  runnableBlock,
  runnableBlocks,
  runProgram,
  runShell,
  temporaryFolder,
} from '../support/documentation.js';

const page = 'server/README.md';
const hasCurl = spawnSync('curl', ['--version']).error === undefined;

test('DOC-01: every command of the server README is run by a test below', () => {
  const names = ['start', 'serve', 'call', 'stop', 'secret', 'users', 'token', 'http'];
  names.push('native-tools', 'library');
  expect([...runnableBlocks(page).keys()]).toEqual(names);
});

test('DOC-01: start, serve, call and stop work one after the other', { timeout: 120_000 }, async () => {
  using folder = temporaryFolder();
  const lines = ['start', 'serve', 'call', 'stop'].map((name) => runnableBlock(page, name)).join('\n');

  // `serve` ends by itself when its hub has gone
  const { code, stdout, stderr } = await runShell(`${lines}\nwait || true`, {}, folder.path);

  expect(stdout).toContain('weather');
  expect(stdout).toContain('sunny in Rome');
  expect(stdout).toContain('sunny in Oslo');
  expect({ code, stderr: stderr.includes('error') }).toEqual({ code: 0, stderr: false });
});

test.skipIf(!hasCurl)(
  `DOC-01: secret, users, token and http work one after the other${hasCurl ? '' : ' (skipped: curl is not installed)'}`,
  { timeout: 120_000 },
  async () => {
    using folder = temporaryFolder();
    const lines = ['secret', 'users', 'token', 'http'].map((name) => runnableBlock(page, name)).join('\n');

    const { code, stdout } = await runShell(`${lines}\nwait`, {}, folder.path);

    expect(stdout).toContain('{"status":"ready"}');
    expect(stdout).toMatch(/"token":"[\w-]+\.[\w-]+\.[\w-]+"/u);
    expect(code).toBe(0);
  },
);

test('DOC-01: the native tools of the README answer a prompt', { timeout: 120_000 }, async () => {
  using folder = temporaryFolder();

  const { code, stdout } = await runShell(`${runnableBlock(page, 'native-tools')}\nwait`, {}, folder.path);

  expect(stdout).toContain('open_invoices answered: [{"customer":"c-1","amount":120}]');
  expect(code).toBe(0);
});

test('DOC-01: the library example runs', async () => {
  const { code, stdout, stderr } = await runProgram(runnableBlock(page, 'library'), {});

  expect(stdout).toContain("[ { customer: 'c-1', amount: 120 } ]");
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

/** Every configuration with agents that the page shows. */
function configurations(): string[] {
  const text = readFileSync(join(repository, page), 'utf8');
  const blocks = [...text.matchAll(/^```json\n(\{[\s\S]*?)^```$/gmu)].map(([, body = '']) => body);
  return blocks.filter((body) => body.includes('"agents"'));
}

test('DOC-01: every configuration with agents of the README fits the schema', () => {
  expect(configurations()).toHaveLength(4); // a whole file, Ollama, OpenAI, Anthropic
  for (const text of configurations())
    expect([text, configSchema.safeParse(JSON.parse(text)).error]).toEqual([text, undefined]);
});

test('DOC-01: the worked examples need the variables that the README names, and nothing else', () => {
  const env = { OPENAI_API_KEY: 'sk-openai', ANTHROPIC_API_KEY: 'sk-anthropic' };
  const keys = configurations()
    .slice(1)
    .map((text) => [...resolveConfig(JSON.parse(text), { env }).secrets.modelKeys]);

  expect(keys).toEqual([[], [['assistant', 'sk-openai']], [['assistant', 'sk-anthropic']]]);
});
