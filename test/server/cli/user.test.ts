import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import { run, startHub, temporaryFolder } from './run-command.js';

test('CLI-06: user add stores a hash that logs in', async () => {
  using folder = temporaryFolder();
  const usersFile = join(folder.path, 'users.json');
  const added = await run(['user', 'add', 'ada', '--file', usersFile], {}, 'correct horse\nignored\n');
  expect(added).toEqual({ exitCode: 0, stdout: '', stderr: `user 'ada' is in ${usersFile}\n` });
  expect(readFileSync(usersFile, 'utf8')).not.toContain('correct horse');
  expect(statSync(usersFile).mode & 0o777).toBe(0o600);

  await using hub = await startHub({ auth: { usersFile } });
  const url = `${hub.url.replace('http', 'ws')}/ws`;
  await using session = await connect(url, { username: 'ada', password: 'correct horse' });
  expect(session.userId).toBe('ada');
  await expect(connect(url, { username: 'ada', password: 'wrong' })).rejects.toMatchObject({
    code: 'invalid-credentials',
  });
});

test('a user who is there is not overwritten unless asked', async () => {
  using folder = temporaryFolder();
  const config = folder.write('hub.json', '{"auth":{"secret":"env:NOT_SET_HERE","usersFile":"users.json"}}');
  const add = ['user', 'add', 'ada', '--config', config];
  expect(await run(add, {}, 'one\n')).toMatchObject({ exitCode: 0 });
  const before = readFileSync(join(folder.path, 'users.json'), 'utf8');
  const again = await run(add, {}, 'two\n');
  expect(again).toMatchObject({ exitCode: 1, stderr: "error: there is a user 'ada' already\n" });
  expect(readFileSync(join(folder.path, 'users.json'), 'utf8')).toBe(before);
  expect(await run([...add, '--replace'], {}, 'two\n')).toMatchObject({ exitCode: 0 });
  expect(readFileSync(join(folder.path, 'users.json'), 'utf8')).not.toBe(before);
});

test('a configuration without a file of users is wrong usage', async () => {
  using folder = temporaryFolder();
  const config = folder.write('hub.json', '{}');
  const { exitCode, stderr } = await run(['user', 'add', 'ada', '--config', config], {}, 'x\n');
  expect(exitCode).toBe(2);
  expect(stderr).toContain('names no auth.usersFile');
});
