import {
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  lstat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { expect, test } from 'vitest';
import { decoyHash, passwordCostOf } from '../../../server/src/passwords/passwords.js';
import { Users, addUser, usersFileSchema } from '../../../server/src/authentication/users.js';
import { KeptLog, lightCost, temporaryFolder } from './fixtures.js';

const hashA = decoyHash(lightCost);
const hashB = decoyHash(lightCost);

const fileOf = (...users: { username: string; passwordHash: string }[]): string => JSON.stringify({ users });
const errorsOf = (logger: KeptLog) => logger.lines.filter(({ level }) => level === 'error');

test('users come from the configuration and from the file; the configuration wins', async () => {
  await using folder = await temporaryFolder();
  const usersFile = folder.file('users.json');
  await writeFile(
    usersFile,
    fileOf({ username: 'ann', passwordHash: hashB }, { username: 'bob', passwordHash: hashB }),
  );
  const users = new Users({
    users: [{ username: 'ann', passwordHash: hashA }],
    usersFile,
    logger: new KeptLog(),
  });

  expect(await users.find('ann')).toEqual({ passwordHash: hashA, isKnown: true });
  expect(await users.find('bob')).toEqual({ passwordHash: hashB, isKnown: true });
  expect(await users.find('Bob')).toMatchObject({ isKnown: false });
  expect(await users.find('__proto__')).toMatchObject({ isKnown: false });
});

test('a change of the file counts at the next look, even when time and size stay the same', async () => {
  await using folder = await temporaryFolder();
  const usersFile = folder.file('users.json');
  await writeFile(usersFile, fileOf({ username: 'ann', passwordHash: hashA }));
  const before = await stat(usersFile);
  const users = new Users({ users: [], usersFile, logger: new KeptLog() });
  expect(await users.find('ann')).toMatchObject({ passwordHash: hashA });

  await writeFile(folder.file('next.json'), fileOf({ username: 'ann', passwordHash: hashB }));
  await utimes(folder.file('next.json'), before.atime, before.mtime);
  await rename(folder.file('next.json'), usersFile);
  expect(await users.find('ann')).toMatchObject({ passwordHash: hashB });

  await writeFile(usersFile, fileOf());
  expect(await users.find('ann')).toMatchObject({ isKnown: false });
});

test('a file that did not change is not read again', async () => {
  await using folder = await temporaryFolder();
  const usersFile = folder.file('users.json');
  await writeFile(usersFile, fileOf({ username: 'ann', passwordHash: hashA }));
  const logger = new KeptLog();
  const users = new Users({ users: [], usersFile, logger });
  await Promise.all([users.find('ann'), users.find('bob'), users.find('ann')]);
  await users.find('ann');

  expect(logger.lines).toEqual([
    { level: 'info', facts: { usersFile, users: 1 }, text: 'file of users read' },
  ]);
});

test.each([
  ['no JSON', `{"users":[{"username":"ann","passwordHash":"${hashB}"`, 'is not JSON'],
  ['an unknown field', '{"users":[],"more":1}', 'wrong at'],
  [
    'no hash',
    '{"users":[{"username":"ann","passwordHash":"secret"}]}',
    'users.0.passwordHash: expected a hash',
  ],
  [
    'a name twice',
    fileOf({ username: 'ann', passwordHash: hashA }, { username: 'ann', passwordHash: hashB }),
    "users: user 'ann' is there twice",
  ],
])(
  'with %s the last good content stays, and one error without a secret is logged',
  async (_what, text, problem) => {
    await using folder = await temporaryFolder();
    const usersFile = folder.file('users.json');
    await writeFile(usersFile, fileOf({ username: 'ann', passwordHash: hashA }));
    const logger = new KeptLog();
    const users = new Users({ users: [], usersFile, logger });
    await users.refresh();

    await writeFile(usersFile, text);
    expect(await users.find('ann')).toEqual({ passwordHash: hashA, isKnown: true });
    await users.find('ann');

    const errors = errorsOf(logger);
    expect(errors).toHaveLength(1);
    expect(JSON.stringify(errors)).toContain(problem);
    expect(JSON.stringify(errors)).not.toContain('scrypt$ln');
    expect(JSON.stringify(errors)).not.toContain('secret"');
  },
);

test('a file that goes and comes back is one logged error and no lost user', async () => {
  await using folder = await temporaryFolder();
  const usersFile = folder.file('users.json');
  await writeFile(usersFile, fileOf({ username: 'ann', passwordHash: hashA }));
  const logger = new KeptLog();
  const users = new Users({ users: [], usersFile, logger });
  await users.refresh();

  await rename(usersFile, folder.file('away.json'));
  expect(await users.find('ann')).toMatchObject({ isKnown: true });
  expect(await users.find('ann')).toMatchObject({ isKnown: true });
  expect(errorsOf(logger)).toHaveLength(1);

  await writeFile(usersFile, fileOf({ username: 'bob', passwordHash: hashB }));
  expect(await users.find('bob')).toMatchObject({ isKnown: true });
  expect(await users.find('ann')).toMatchObject({ isKnown: false });
});

test('a name that nobody has gets a decoy of the cost that the users have, always the same', async () => {
  const cost = { ln: 12, r: 4, p: 1 };
  const users = new Users({
    users: [
      { username: 'ann', passwordHash: decoyHash(lightCost) },
      { username: 'bob', passwordHash: decoyHash(cost) },
    ],
    logger: new KeptLog(),
  });
  const costOf = async (name: string): Promise<string> =>
    JSON.stringify(passwordCostOf((await users.find(name)).passwordHash));
  const names = Array.from({ length: 64 }, (_, at) => `nobody-${at}`);
  const costs = await Promise.all(names.map(costOf));

  expect(new Set(costs)).toEqual(new Set([JSON.stringify(lightCost), JSON.stringify(cost)]));
  expect(await Promise.all(names.map(costOf))).toEqual(costs);
});

test('a configured user that is wrong is named, without its hash', () => {
  const logger = new KeptLog();
  const ann = { username: 'ann', passwordHash: hashA };
  expect(() => new Users({ users: [ann, { username: 'bob', passwordHash: 'hunter2' }], logger })).toThrow(
    /^auth\.users\.1\.passwordHash: expected a hash as `remotes-hub user add` makes it$/,
  );
  expect(() => new Users({ users: [ann, ann], logger })).toThrow(
    "auth.users.1.username: 'ann' is there twice",
  );
});

test('adding a user makes the file, for its owner alone, and leaves nothing else behind', async () => {
  await using folder = await temporaryFolder();
  const file = folder.file('users.json');
  await addUser(file, 'ann', hashA);
  await addUser(file, 'bob', hashB);

  expect(usersFileSchema.parse(JSON.parse(await readFile(file, 'utf8')))).toEqual({
    users: [
      { username: 'ann', passwordHash: hashA },
      { username: 'bob', passwordHash: hashB },
    ],
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder.path)).toEqual(['users.json']);
});

test('a name that is there is refused, or replaced where that is asked for', async () => {
  await using folder = await temporaryFolder();
  const file = folder.file('users.json');
  await addUser(file, 'ann', hashA);
  await addUser(file, 'bob', hashA);

  await expect(addUser(file, 'ann', hashB)).rejects.toMatchObject({
    code: 'user-exists',
    message: "there is a user 'ann' already",
  });
  await addUser(file, 'ann', hashB, { replace: true });
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(
    JSON.parse(fileOf({ username: 'ann', passwordHash: hashB }, { username: 'bob', passwordHash: hashA })),
  );
  expect(await readdir(folder.path)).toEqual(['users.json']);
});

test('of many changes at once none undoes another: each is made or refused', async () => {
  await using folder = await temporaryFolder();
  const file = folder.file('users.json');
  const names = Array.from({ length: 8 }, (_, at) => `user-${at}`);
  const outcomes = await Promise.allSettled(names.map((name) => addUser(file, name, hashA)));

  const added = names.filter((_, at) => outcomes[at]?.status === 'fulfilled');
  const { users } = usersFileSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  expect(added.length).toBeGreaterThan(0);
  expect(users.map(({ username }) => username).toSorted()).toEqual(added);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'locked' });
  }
});

test('a file that cannot be understood, a wrong name or hash: refused, and nothing is written', async () => {
  await using folder = await temporaryFolder();
  const file = folder.file('users.json');
  await writeFile(file, '{"users":');
  await expect(addUser(file, 'ann', hashA)).rejects.toMatchObject({ code: 'broken' });
  expect(await readFile(file, 'utf8')).toBe('{"users":');

  await rm(file);
  await expect(addUser(file, '', hashA)).rejects.toMatchObject({ code: 'invalid-user' });
  await expect(addUser(file, 'ann', 'hunter2')).rejects.toMatchObject({ code: 'invalid-user' });
  expect(await readdir(folder.path)).toEqual([]);
});

test('a link to the file stays a link', async () => {
  await using folder = await temporaryFolder();
  await addUser(folder.file('real.json'), 'ann', hashA);
  await symlink(folder.file('real.json'), folder.file('users.json'));
  await addUser(folder.file('users.json'), 'bob', hashB);

  expect((await lstat(folder.file('users.json'))).isSymbolicLink()).toBe(true);
  expect(JSON.parse(await readFile(folder.file('real.json'), 'utf8'))).toMatchObject({ users: [{}, {}] });
});

test('a file that cannot be read is one logged error, and is read once it can be', async () => {
  await using folder = await temporaryFolder();
  const usersFile = folder.file('users.json');
  await mkdir(usersFile);
  const logger = new KeptLog();
  const users = new Users({ users: [], usersFile, logger });
  await users.refresh();
  await users.refresh();
  expect(errorsOf(logger)).toHaveLength(1);
  expect(JSON.stringify(errorsOf(logger))).toContain('cannot be read: EISDIR');

  await rmdir(usersFile);
  await addUser(usersFile, 'ann', hashA);
  expect(await users.find('ann')).toMatchObject({ isKnown: true });
});
