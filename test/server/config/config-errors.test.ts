import { expect, test } from 'vitest';
import { ConfigError } from '../../../server/src/config/config-error.js';
import { resolveConfig, type ResolveOptions } from '../../../server/src/config/load-config.js';

const SECRET = 'a secret of thirty-two bytes, ok';
const ABSENT = `$scrypt$ln=15,r=8,p=3$${'A'.repeat(22)}$${'A'.repeat(43)}`;

function problemsOf(input: unknown, options?: ResolveOptions): string[] {
  try {
    resolveConfig(input, options);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

/** One wrong configuration a row: what is written, and all that is said about it. */
const wrong: [title: string, input: unknown, problem: string | string[]][] = [
  ['a number out of range', { port: 65_536 }, 'port: expected an integer from 0 to 65535, received 65536'],
  ['a fraction', { port: 1.5 }, 'port: expected an integer from 0 to 65535, received 1.5'],
  ['a string for a number', { port: '80' }, 'port: expected an integer from 0 to 65535, received a string'],
  ['null', { host: null }, 'host: expected a non-empty string, received null'],
  ['an empty string', { host: '' }, 'host: expected a non-empty string, received an empty string'],
  ['a path without a slash', { path: 'ws' }, 'path: expected a path such as "/ws"'],
  [
    'an unknown level',
    { log: { level: 'loud' } },
    'log.level: expected one of "fatal", "error", "warn", "info", "debug", "trace", "silent", received a string',
  ],
  ['a list for an object', { limits: [] }, 'limits: expected an object, received an empty list'],
  ['no object at all', [1], ': expected an object, received a list'],
  ['a misspelt key', { prot: 1 }, 'prot: unknown key, did you mean "port"?'],
  [
    'a misspelt key inside',
    { limits: { maxSesions: 1 } },
    'limits.maxSesions: unknown key, did you mean "maxSessions"?',
  ],
  ['a key in the wrong place', { secret: SECRET }, 'secret: unknown key, did you mean "auth.secret"?'],
  ['a key like none', { log: { format: 'pretty' } }, 'log.format: unknown key, known here: level'],
  [
    'a key that objects inherit',
    { constructor: {} },
    expect.stringContaining('constructor: unknown key, known here:'),
  ],
  ['an own __proto__', JSON.parse('{"__proto__":{}}'), expect.stringContaining('__proto__: unknown key')],
  [
    'a URL of another kind',
    { auth: { jwksUrl: 'ftp://keys.example' } },
    'auth.jwksUrl: expected an http or https URL, received a string',
  ],
  [
    'a password in the URL of a key set',
    { auth: { jwksUrl: 'https://user:pass@keys.example' } },
    'auth.jwksUrl: expected a URL without user and password',
  ],
  [
    'an algorithm of shared secrets from an issuer',
    { auth: { algorithms: ['HS256'] } },
    expect.stringContaining('auth.algorithms[0]: expected one of "RS256", '),
  ],
  [
    'an origin with a path',
    { auth: { allowedOrigins: ['https://app.example/'] } },
    expect.stringContaining('auth.allowedOrigins[0]: expected an origin such as "https://app.example"'),
  ],
  [
    'a user without a hash',
    { auth: { users: [{ username: 'ada' }] } },
    'auth.users[0].passwordHash: expected a non-empty string, received nothing',
  ],
  [
    'a password where a hash belongs',
    { auth: { users: [{ username: 'ada', passwordHash: 'hunter2' }] } },
    'auth.users[0].passwordHash: expected a hash as `remotes-hub user add` makes it',
  ],
  [
    'a user twice',
    { auth: { users: [1, 2].map(() => ({ username: 'ada', passwordHash: ABSENT })) } },
    'auth.users[1].username: the same as auth.users[0].username',
  ],
  [
    'another provider',
    { agents: [{ id: 1, name: 'A', model: { provider: 'other' } }] },
    'agents[0].model.provider: expected "offline" or "openai-compatible" or "anthropic", received a string',
  ],
  [
    'an agent id of another kind',
    { agents: [{ id: 1.5, name: 'A', model: { provider: 'offline' } }] },
    'agents[0].id: expected a string of 1 to 128 characters or an integer, received 1.5',
  ],
  [
    'an agent id twice, as number and as string',
    { agents: [7, '7'].map((id) => ({ id, name: 'A', model: { provider: 'offline' } })) },
    'agents[1].id: the same as agents[0].id; 7 and "7" are one id',
  ],
  [
    'an unknown native tool',
    { agents: [{ id: 1, name: 'A', model: { provider: 'offline' }, tools: ['shell'] }] },
    'agents[0].tools[0]: expected "current_time", or the path of a module, beginning with "./", "../" or "/"',
  ],
  [
    'a queue too short for two messages',
    { limits: { maxMessageBytes: 20_000_000 } },
    'limits.maxQueuedBytes: expected at least twice limits.maxMessageBytes (40000000), received 33554432',
  ],
  [
    'a standard timeout above the longest',
    { limits: { callTimeoutMs: 5_000, maxCallTimeoutMs: 1_000 } },
    'limits.maxCallTimeoutMs: expected at least limits.callTimeoutMs (5000), received 1000',
  ],
  [
    'redis without its variable',
    { redis: { url: 'env:REDIS_URL' } },
    'redis.url: environment variable REDIS_URL is not set',
  ],
  [
    'another URL than one of Redis',
    { redis: { url: 'http://:hunter2@127.0.0.1' } },
    'redis.url: expected a URL such as "redis://127.0.0.1:6379"',
  ],
  [
    'an open host without authentication',
    { host: '0.0.0.0' },
    'host: "0.0.0.0" can be reached from other machines, and nothing says who may log in: ' +
      'set auth.secret, auth.jwksUrl, auth.users or auth.usersFile, or listen on 127.0.0.1',
  ],
  [
    'a short secret',
    { auth: { secret: 'short' } },
    'auth.secret: expected at least 32 bytes, the text has 5',
  ],
  [
    'several things at once',
    { port: -1, auth: { secret: 'env:NOWHERE' }, redis: { url: 'x' }, colour: 'red' },
    [
      'port: expected an integer from 0 to 65535, received -1',
      expect.stringContaining('colour: unknown key'),
      'auth.secret: environment variable NOWHERE is not set',
      'redis.url: expected a URL such as "redis://127.0.0.1:6379"',
    ],
  ],
];

test.each(wrong)('CONFIG-01: %s is refused with its path and what is accepted', (_title, input, expected) => {
  expect(problemsOf(input)).toEqual(Array.isArray(expected) ? expected : [expected]);
});

test('CONFIG-01: the error names the file and lists every problem on its own line', () => {
  const error = new ConfigError(
    [
      { path: 'port', message: 'expected an integer' },
      { path: '', message: 'line 1, column 2: expected ":"' },
    ],
    'hub.json',
  );
  expect(error.message).toBe(
    'hub.json cannot be used:\n  port: expected an integer\n  line 1, column 2: expected ":"',
  );
});

test('CONFIG-02: no error holds a text that may be a secret', () => {
  const secret = 'hunter2-hunter2';
  const inputs = [
    { auth: { secret } },
    { auth: { secret: 7_654_321 } },
    { auth: { secret: { secret } } },
    { auth: { users: [{ username: 'ada', passwordHash: secret }] } },
    { auth: { users: [{ username: 'ada', passwordHash: ABSENT, password: secret }] } },
    { redis: { url: secret } },
    { auth: secret },
  ];
  for (const input of inputs) {
    const problems = problemsOf(input);
    expect(problems).not.toEqual([]);
    expect(problems.join()).not.toMatch(/hunter2|7654321/);
  }
});

test('one way to log in is enough for an open host', () => {
  const ways = [
    { secret: SECRET },
    { jwksUrl: 'https://issuer.example/keys' },
    { usersFile: 'users.json' },
    { users: [{ username: 'ada', passwordHash: ABSENT }] },
  ];
  for (const auth of ways) expect(problemsOf({ host: '0.0.0.0', auth })).toEqual([]);
  expect(problemsOf({ host: '0.0.0.0' }, { authenticatesItself: true })).toEqual([]);
});

test.each(['127.0.0.1', '127.8.8.8', 'localhost', 'LOCALHOST', '::1', '[::1]', '::ffff:127.0.0.1'])(
  'nobody else reaches %s',
  (host) => expect(problemsOf({ host })).toEqual([]),
);

test.each(['0.0.0.0', '::', '192.168.1.5', 'localhost.example', '127.0.0.1.example', '::ffff:10.0.0.1', '0'])(
  'others may reach %s',
  (host) => expect(problemsOf({ host })).toEqual([expect.stringContaining('who may log in')]),
);

test('the limits themselves are accepted', () => {
  expect(
    problemsOf({
      port: 65_535,
      limits: { maxMessageBytes: 1_024, maxQueuedBytes: 2_048, callTimeoutMs: 600_000 },
    }),
  ).toEqual([]);
});
