// CLI-13
import { expect, test } from 'vitest';
import { run, startHub } from '../server/cli/run-command.js';

const sdkClient = ['node', '--import', 'tsx', '-C', 'hub-source', 'test/conformance/sdk-client.ts'];

test('a hub that keeps the rules is told so, line by line, exit code 0', async () => {
  await using hub = await startHub();
  const { url, env } = hub;
  const ending = await run(['conformance', '--url', url, '--only', 'WIRE-13,K001'], env);
  expect(ending).toMatchObject({ exitCode: 0, stderr: '' });
  expect(ending.stdout.split('\n')).toEqual([
    'pass  WIRE-13     ping is answered with pong.',
    expect.stringMatching(/^skip {2}K001 .* \(only with --slow\)$/u),
    '1 passed, 0 failed, 1 skipped',
    '',
  ]);
});

test('a failed rule is exit code 1, and says what was expected and what came', async () => {
  await using hub = await startHub();
  const args = ['conformance', '--url', hub.url, '--token', 'wrong', '--only', 'AUTH-03,WIRE-13'];
  const { exitCode, stdout } = await run([...args, '--json']);
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    mode: 'hub',
    passed: 0,
    failed: 1,
    skipped: 1,
    rules: [
      {
        id: 'AUTH-03',
        where: 'Ways in',
        outcome: 'failed',
        received: expect.stringContaining('invalid-credentials') as string,
      },
      { id: 'WIRE-13', outcome: 'skipped', reason: 'AUTH-03 does not hold' },
    ],
  });
  const text = await run(args);
  expect(text.stdout).toMatch(
    /^FAIL {2}AUTH-03 .*\n +where: +protocol\/README\.md, "Ways in"\n +expected: .*\n +received: /u,
  );
});

test('a client is a command that is started for each rule', { timeout: 60_000 }, async () => {
  const args = ['conformance', '--client', '--only', 'CLIENT-11,CLIENT-17', '--', ...sdkClient];
  const { exitCode, stdout } = await run(args, { PATH: process.env['PATH'] ?? '' });
  expect(stdout).toContain('2 passed, 0 failed, 0 skipped');
  expect(exitCode).toBe(0);
});

test('a client that cannot be started fails the first rule', async () => {
  const { exitCode, stdout } = await run(['conformance', '--client', '--json', '--', './no-such-program']);
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    mode: 'client',
    passed: 0,
    failed: 1,
    rules: expect.arrayContaining([
      expect.objectContaining({
        id: 'CLIENT-01',
        received: expect.stringContaining('a client that cannot be started') as string,
      }),
    ]) as unknown[],
  });
});

test('--list prints the rules and asks nobody', async () => {
  const hub = await run(['conformance', '--list']);
  expect(hub.exitCode).toBe(0);
  expect(hub.stdout).toContain('WIRE-06     The nonce comes back');
  const client = await run(['conformance', '--client', '--list']);
  expect(client.stdout).toContain('CLIENT-01   It logs in');
  const report: unknown = JSON.parse((await run(['conformance', '--list', '--json'])).stdout);
  const rules: unknown = expect.arrayContaining([expect.objectContaining({ id: 'WIRE-06', where: 'Nonce' })]);
  expect(report).toEqual({ mode: 'hub', rules });
});

const wrong: [args: string[], message: string][] = [
  [[], 'who logs in? give --token, or set REMOTES_HUB_TOKEN'],
  [['--token', 'x', '--only', 'WIRE-13,NOTHING'], 'no such rule: NOTHING; --list shows them'],
  [['--token', 'x', '--only', 'CLIENT-01'], 'no such rule: CLIENT-01'],
  [['--token', 'x', '--', 'node'], 'a command is started with --client only'],
  [['--client'], 'which client? give the command that starts it after --'],
  [['--client', '--token', 'x', '--', 'node'], '--url and --token are for a hub'],
];

test.each(wrong)('CLI-07: %j is wrong usage, exit code 2', async (args, message) => {
  const ending = await run(['conformance', ...args]);
  expect(ending).toMatchObject({ exitCode: 2, stdout: '' });
  expect(ending.stderr).toContain(message);
});

test('CLI-07: a hub that is not there is exit code 3', async () => {
  const { exitCode, stderr } = await run(['conformance', '--url', 'ws://127.0.0.1:1', '--token', 'x']);
  expect(exitCode).toBe(3);
  expect(stderr).toContain('cannot connect to ws://127.0.0.1:1/ws');
});
