import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../server/src/config/config-error.js';
import { INLINE_SECRET } from '../../../server/src/config/config-secrets.js';
import { loadConfig, readConfigFile } from '../../../server/src/config/load-config.js';

const SECRET = 'a secret of thirty-two bytes, ok';

function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'remotes-hub-config-'));
  return {
    path,
    write: (name: string, content: string | Uint8Array) => {
      writeFileSync(join(path, name), content);
      return join(path, name);
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  };
}

function problemOf(file: string): string {
  try {
    loadConfig(file, {});
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ message }) => message).join('; ');
    throw error;
  }
  return 'none';
}

test('without a file the defaults are complete', () => {
  const { config, secrets } = loadConfig(undefined, {});
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 7_465,
    path: '/ws',
    agents: [],
    log: { level: 'info' },
  });
  expect(config.limits).toMatchObject({ callTimeoutMs: 30_000, maxMessageBytes: 4_194_304 });
  expect(secrets).toEqual({ modelKeys: new Map() });
});

test('CONFIG-02: a secret is kept apart from the configuration', () => {
  using folder = temporaryFolder();
  const file = folder.write('hub.json', JSON.stringify({ auth: { secret: SECRET } }));
  const loaded = loadConfig(file, {});
  expect(loaded.secrets).toEqual({ authSecret: SECRET, modelKeys: new Map() });
  expect(loaded.config.auth.secret).toBe(INLINE_SECRET);
  expect(JSON.stringify(loaded.config)).not.toContain(SECRET);
});

test('CONFIG-02: references are resolved, files from the folder of the configuration', () => {
  using folder = temporaryFolder();
  folder.write('key', `${SECRET}\n`);
  const file = folder.write('hub.json', '{"auth":{"secret":"file:key","usersFile":"users.json"}}');
  const loaded = loadConfig(file, {});
  expect(loaded.secrets).toEqual({ authSecret: SECRET, modelKeys: new Map() });
  expect(loaded.config.auth.secret).toBe('file:key');
  expect(loaded.config.auth.usersFile).toBe(join(folder.path, 'users.json'));
});

test('REMOTES_HUB_SECRET is the secret when the configuration names none', () => {
  using folder = temporaryFolder();
  const env = { REMOTES_HUB_SECRET: SECRET, OTHER: `${SECRET}!` };
  expect(loadConfig(undefined, env, { host: '0.0.0.0' }).secrets).toMatchObject({ authSecret: SECRET });
  const named = folder.write('named.json', '{"auth":{"secret":"env:OTHER"}}');
  expect(loadConfig(named, env).secrets).toMatchObject({ authSecret: `${SECRET}!` });
});

test('options win over the file and are checked like it', () => {
  using folder = temporaryFolder();
  const file = folder.write('hub.json', '{"port":1,"host":"127.0.0.2"}');
  expect(loadConfig(file, {}, { port: 2 }).config).toMatchObject({ port: 2, host: '127.0.0.2' });
  expect(() => loadConfig(file, {}, { host: '0.0.0.0' })).toThrow('nothing says who may log in');
});

test('a byte order mark is allowed', () => {
  using folder = temporaryFolder();
  expect(loadConfig(folder.write('hub.json', '\uFEFF{"port":1}'), {}).config.port).toBe(1);
});

test.each([
  ['{"port": 1,}', 'line 1, column 12: no comma may stand before "}"'],
  ['{\n  "auth": {"secret": hunter2}\n}', 'line 2, column 22: expected a value'],
  ['{"port": 1', 'line 1, column 11: expected "," or "}", but the text ends here'],
  ['', 'line 1, column 1: expected a value, but the text ends here'],
])('CONFIG-01: %j is refused with line and column', (text, problem) => {
  using folder = temporaryFolder();
  expect(problemOf(folder.write('hub.json', text))).toBe(problem);
});

test('a file that is missing, no text, no file or too large is refused by name', () => {
  using folder = temporaryFolder();
  const missing = join(folder.path, 'missing.json');
  expect(problemOf(missing)).toBe(`cannot read file ${missing}: no such file`);
  expect(problemOf(folder.path)).toBe(`cannot read file ${folder.path}: it is a directory`);
  const binary = folder.write('binary.json', Uint8Array.of(0xff, 0xfe, 0x7b, 0));
  expect(problemOf(binary)).toBe(`file ${binary} is not UTF-8 text`);
  const large = folder.write('large.json', ' '.repeat(4 * 1024 * 1024 + 1));
  expect(problemOf(large)).toBe(`file ${large} is larger than 4194304 bytes`);
});

test('a file can be read without what its references name', () => {
  using folder = temporaryFolder();
  const file = folder.write('hub.json', '{"auth":{"secret":"env:NOWHERE","usersFile":"users.json"}}');
  expect(readConfigFile(file).auth.usersFile).toBe(join(folder.path, 'users.json'));
  expect(() => readConfigFile(folder.write('wrong.json', '{"port":"x"}'))).toThrow(ConfigError);
});
