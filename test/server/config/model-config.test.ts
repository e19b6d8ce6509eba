import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../server/src/config/config-error.js';
import { INLINE_SECRET } from '../../../server/src/config/config-secrets.js';
import { resolveConfig } from '../../../server/src/config/load-config.js';

const env = { OPENAI_API_KEY: 'sk-of-the-environment', EMPTY: '', SPACED: 'sk with spaces' };
const compatible = { provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', model: 'qwen3:8b' };
const anthropic = { provider: 'anthropic', model: 'a-model', apiKey: 'env:OPENAI_API_KEY' };

function load(model: object, fields: object = {}, rest: object = {}) {
  return resolveConfig(
    { ...rest, agents: [{ id: 7, name: 'A', model, ...fields }] },
    { env, directory: '/etc/hub' },
  );
}

function problemsOf(...given: Parameters<typeof load>): string[] {
  try {
    load(...given);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

test('a local model needs no key, and every limit of an agent has its default', () => {
  const { config, secrets } = load(compatible);
  expect(config.agents).toEqual([
    {
      id: 7,
      name: 'A',
      model: { ...compatible, stepTimeoutMs: 120_000 },
      tools: [],
      maxToolCalls: 100,
      timeoutMs: 600_000,
    },
  ]);
  expect(config.limits).toMatchObject({
    runGraceMs: 30_000,
    maxConversationsPerUser: 64,
    conversationTtlMs: 3_600_000,
  });
  expect(secrets.modelKeys).toEqual(new Map());
});

test('CONFIG-02: the key of a model is kept apart from the configuration, by the id of its agent', () => {
  const { config, secrets } = load(anthropic);
  expect(secrets.modelKeys).toEqual(new Map([['7', 'sk-of-the-environment']]));
  expect(config.agents[0]?.model).toEqual({ ...anthropic, maxOutputTokens: 4_096, stepTimeoutMs: 120_000 });
});

test('CONFIG-02: a key that is written out does not stay in the configuration', () => {
  const { config, secrets } = load({ ...compatible, apiKey: 'sk-written-out' });
  expect(secrets.modelKeys.get('7')).toBe('sk-written-out');
  expect(config.agents[0]?.model).toMatchObject({ apiKey: INLINE_SECRET });
  expect(JSON.stringify(config)).not.toContain('sk-written-out');
});

test.each([
  ['env:NOWHERE', 'environment variable NOWHERE is not set'],
  ['env:EMPTY', 'environment variable EMPTY is empty'],
  ['env:SPACED', 'expected visible ASCII characters without spaces, "env:SPACED" has others'],
  ['sk-hunter2\n', 'expected visible ASCII characters without spaces, the text has others'],
  ['', 'expected a non-empty string, received an empty string'],
])('CONFIG-02: the key %j is refused by its path, without its text', (apiKey, problem) => {
  expect(problemsOf({ ...anthropic, apiKey })).toEqual([`agents[0].model.apiKey: ${problem}`]);
});

test('CONFIG-02: a key never travels in clear to another machine', () => {
  const key = { apiKey: 'env:OPENAI_API_KEY' };
  expect(problemsOf({ ...compatible, ...key, baseUrl: 'http://models.example/v1' })).toEqual([
    'agents[0].model.baseUrl: expected https, or no apiKey where the server asks for none: ' +
      'over http the key would travel in clear to "models.example"',
  ]);
  expect(problemsOf({ ...anthropic, baseUrl: 'http://127.0.0.1.example' })).toEqual([
    'agents[0].model.baseUrl: expected https: over http the key would travel in clear to "127.0.0.1.example"',
  ]);
  for (const baseUrl of ['https://models.example/v1', 'http://localhost:1/v1', 'http://[::1]:1/v1'])
    expect(problemsOf({ ...compatible, ...key, baseUrl })).toEqual([]);
  expect(problemsOf({ ...compatible, baseUrl: 'http://models.example/v1' })).toEqual([]);
});

test.each([
  [
    'https://ada:hunter2@models.example/v1',
    'expected a URL without user and password; a key belongs into apiKey',
  ],
  ['https://models.example/v1?key=hunter2', 'expected a URL that ends with its path, without "?" and "#"'],
  ['https://models.example/v1#', 'expected a URL that ends with its path, without "?" and "#"'],
  ['ftp://models.example/v1', 'expected an http or https URL, received a string'],
  ['models.example', 'expected an http or https URL, received a string'],
])('the address %s is refused, and not shown', (baseUrl, problem) => {
  expect(problemsOf({ ...compatible, baseUrl })).toEqual([`agents[0].model.baseUrl: ${problem}`]);
});

test.each([
  [{ provider: 'offline', model: 'x' }, 'agents[0].model.model: unknown key, known here: provider'],
  [{ ...anthropic, baseURL: 'https://x' }, 'agents[0].model.baseURL: unknown key, did you mean "baseUrl"?'],
  [
    { ...compatible, baseUrl: undefined },
    'agents[0].model.baseUrl: expected an http or https URL, received nothing',
  ],
  [
    { ...anthropic, apiKey: undefined },
    'agents[0].model.apiKey: expected a non-empty string, received nothing',
  ],
  [
    { ...compatible, model: '' },
    expect.stringContaining('agents[0].model.model: expected a string of 1 to 256'),
  ],
  [
    { ...compatible, stepTimeoutMs: 0 },
    'agents[0].model.stepTimeoutMs: expected an integer from 100 to 3600000, received 0',
  ],
  [{}, expect.stringContaining('agents[0].model.provider: expected "offline" or "openai-compatible"')],
])('CONFIG-01: of the model %j the error says what its provider accepts', (model, problem) => {
  expect(problemsOf(model)).toEqual([problem]);
});

test('CONFIG-01: an agent has at most the steps that limits allow', () => {
  expect(problemsOf(compatible, { maxSteps: 17 })).toEqual([
    'agents[0].maxSteps: expected at most limits.maxRunSteps (16), received 17',
  ]);
  expect(problemsOf(compatible, { maxSteps: 17 }, { limits: { maxRunSteps: 17 } })).toEqual([]);
});

test('modules of tools are paths from the folder of the configuration, names stay names', () => {
  const tools = ['./my-tools.mjs', '../shared/tools.mjs', '/opt/tools.mjs', 'current_time'];
  expect(load(compatible, { tools }).config.agents[0]?.tools).toEqual([
    resolve('/etc/hub/my-tools.mjs'),
    resolve('/etc/shared/tools.mjs'),
    resolve('/opt/tools.mjs'),
    'current_time',
  ]);
});

test.each(['my-tools.mjs', 'https://example.com/tools.mjs', './', '', 'Current_time'])(
  'CONFIG-01: %j is neither a native tool nor the path of a module',
  (entry) => {
    expect(problemsOf(compatible, { tools: [entry] })).toEqual([
      expect.stringMatching(/^agents\[0\]\.tools\[0\]: expected "current_time", or the path of a module/u),
    ]);
  },
);
