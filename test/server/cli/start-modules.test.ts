import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHub } from '@remotes-hub/server';
import { expect, test } from 'vitest';
import { run } from './run-command.js';

const agent = { id: 1, name: 'A', model: { provider: 'offline' } } as const;

function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'remotes-hub-start-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

test('start ends with 2 when a module of native tools cannot be used, and names place and file', async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'hub.json');
  const broken = join(folder.path, 'my-tools.mjs');
  writeFileSync(broken, 'throw new Error("no database");');
  writeFileSync(file, JSON.stringify({ agents: [{ ...agent, tools: ['current_time', './my-tools.mjs'] }] }));

  const { exitCode, stderr } = await run(['start', '--config', file, '--port', '0']);

  expect(stderr).toBe(
    `error: ${file} cannot be used:\n` +
      `  agents[0].tools[1]: ${broken} cannot be loaded: Error: no database\n`,
  );
  expect(exitCode).toBe(2);
});

test('a hub as a library does not listen with a module that cannot be used, and can be closed', async () => {
  using folder = temporaryFolder();
  const missing = join(folder.path, 'missing.mjs');
  await using hub = createHub({
    config: { agents: [{ ...agent, tools: [missing] }], log: { level: 'silent' } },
  });

  await expect(hub.listen({ port: 0 })).rejects.toMatchObject({
    name: 'ConfigError',
    problems: [{ path: 'agents[0].tools[0]', message: `${missing} cannot be loaded: there is no such file` }],
  });
});
