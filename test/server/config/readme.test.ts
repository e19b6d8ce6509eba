import { readFileSync, rmSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../server/src/config/config-error.js';
import { loadConfig } from '../../../server/src/config/load-config.js';

const readme = readFileSync(new URL('../../../server/README.md', import.meta.url), 'utf8');

function block(language: string): string {
  const body = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(readme)?.[1];
  if (body === undefined) throw new Error(`server/README.md has no ${language} block`);
  return body;
}

function load(hub: string) {
  const folder = mkdtempSync(join(tmpdir(), 'remotes-hub-readme-'));
  try {
    writeFileSync(join(folder, 'hub.json'), hub);
    writeFileSync(join(folder, 'hub-secret'), 'a secret of thirty-two bytes, ok\n');
    return loadConfig(join(folder, 'hub.json'), {});
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('CONFIG-01: the whole file of the README is a configuration', () => {
  const { config, secrets } = load(block('json'));
  expect(config.agents).toMatchObject([{ id: 'assistant', tools: ['current_time'] }]);
  expect(secrets.authSecret).toBe('a secret of thirty-two bytes, ok');
});

test('CONFIG-01: a wrong file gets the error that the README shows', () => {
  const wrong = { port: '80', limits: { maxSesions: 1 }, auth: { secret: 'env:HUB_SECRET' } };
  const shown = block('text').replace('error: hub.json', '').trimEnd();
  expect(() => load(JSON.stringify(wrong))).toThrow(ConfigError);
  expect(() => load(JSON.stringify(wrong))).toThrow(shown);
});
