import { expect, test } from 'vitest';
import { CommandProcess, run, temporaryFolder } from './run-command.js';

/** Arguments that are wrong, and what is said about them. */
const wrong: [args: string[], message: string][] = [
  [[], 'Usage: remotes-hub'],
  [['frobnicate'], "unknown command 'frobnicate'"],
  [['strat'], '(Did you mean start?)'],
  [['list', '--colour'], "unknown option '--colour'"],
  [['list', 'more'], 'too many arguments'],
  [['list', '--url', 'hub.example'], "the hub's URL: expected http(s):// or ws(s)://"],
  [['list', '--url', 'ftp://hub.example'], "the hub's URL: expected http(s):// or ws(s)://"],
  [['list', '--url', 'ws://user:secret@hub.example'], 'a token belongs in REMOTES_HUB_TOKEN'],
  [['call', 'weather'], "missing required argument 'function'"],
  [
    ['call', 'weather', 'get', '{city: 1}'],
    'arguments: not JSON, line 1, column 2: expected a name in double quotes',
  ],
  [['call', 'weather', 'get', '[1]'], 'arguments: expected a JSON object'],
  [['call', 'weather', 'get', 'null'], 'arguments: expected a JSON object'],
  [['call', 'weather', 'get', '--timeout', '5'], 'expected a duration such as 500ms, 90s, 30m, 1h or 7d'],
  [['call', 'weather', 'get', '--timeout', '11m'], 'expected at most 10m'],
  [['prompt', 'assistant'], "missing required argument 'instruction'"],
  [['prompt', 'assistant', 'hi', '--remote', '=x'], 'expected NAME or NAME=PREFIX'],
  [['serve', 'module.mjs'], "required option '--name <name>' not specified"],
  [['serve', 'nowhere.mjs', '--name', 'x'], 'there is no module nowhere.mjs'],
  [['start', '--port', '65536'], 'expected an integer from 0 to 65535'],
  [['start', '--port', '0x10'], 'expected an integer from 0 to 65535'],
  [['start', '--config', 'nowhere.json'], 'cannot read file nowhere.json: no such file'],
  [['start', '--host', '0.0.0.0'], 'nothing says who may log in'],
  [['token'], "required option '--user <user>' not specified"],
  [['token', '--user', 'ada'], 'there is no secret to sign with'],
  [['token', '--user', 'ada', '--ttl', 'soon'], 'expected a duration'],
  [['user', 'add', 'ada'], 'where to? give --file, or --config with auth.usersFile'],
  [['user', 'add', '', '--file', 'users.json'], 'the name of a user: expected 1 to 256 characters'],
  [['user', 'add', 'ada', '--file', 'users.json'], 'the password is empty'],
  [['user', 'add', 'ada', '--file', 'a', '--config', 'b'], 'cannot be used with option'],
];

test.each(wrong)('CLI-07: %j is wrong usage, exit code 2', async (args, message) => {
  const ending = await run(args, { REMOTES_HUB_TOKEN: 'never sent' });
  expect(ending).toMatchObject({ exitCode: 2, stdout: '' });
  expect(ending.stderr).toContain(message);
});

test('CLI-07: a wrong configuration is wrong usage, all its problems are listed', async () => {
  using folder = temporaryFolder();
  const file = folder.write('hub.json', '{"port":"x","auth":{"secret":"env:NOWHERE"}}');
  const { exitCode, stderr } = await run(['start', '--config', file]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(`${file} cannot be used:`);
  expect(stderr).toContain('port: expected an integer from 0 to 65535, received a string');
  expect(stderr).toContain('auth.secret: environment variable NOWHERE is not set');
});

test('CLI-07: arguments are checked before anything is tried', async () => {
  const { exitCode } = await run(['call', 'a', 'b', '{'], {
    REMOTES_HUB_URL: 'http://127.0.0.1:1',
    REMOTES_HUB_TOKEN: 'x',
  });
  expect(exitCode).toBe(2);
});

test('CLI-07: the process ends with these exit codes', async () => {
  await using usage = new CommandProcess(['call']);
  await using unreachable = new CommandProcess(['list'], {
    REMOTES_HUB_URL: 'http://127.0.0.1:1',
    REMOTES_HUB_TOKEN: 'x',
  });
  expect(await usage.ended()).toMatchObject({ exitCode: 2, stdout: '' });
  const ending = await unreachable.ended();
  expect(ending).toMatchObject({ exitCode: 3, stdout: '' });
  expect(ending.stderr).toContain('cannot connect to ws://127.0.0.1:1/ws');
});

test.each([['--help'], ['call', '--help'], ['help', 'serve'], ['--version']])(
  'CLI-08: %j goes to standard output, exit code 0',
  async (...args) => {
    const { exitCode, stdout, stderr } = await run(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^(Usage: remotes-hub|\d+\.\d+\.\d+\n$)/);
  },
);
