import { open, readFile, realpath, rename, stat, unlink } from 'node:fs/promises';
import { userIdSchema } from '@remotes-hub/protocol';
import * as z from 'zod';
import { isPasswordHash } from '../passwords/passwords.js';

const MAX_USERS_FILE_BYTES = 16 * 1024 * 1024;

function firstRepeated(names: readonly string[]): string | undefined {
  return new Set(names).size === names.length
    ? undefined
    : names.find((name, at) => names.indexOf(name) !== at);
}

/** The file that `auth.usersFile` names: users, each once, with hashes as `remotes-hub user add` makes them. */
export const usersFileSchema = z.strictObject({
  users: z
    .array(
      z.strictObject({
        username: userIdSchema,
        passwordHash: z
          .string()
          .refine(isPasswordHash, { error: 'expected a hash as `remotes-hub user add` makes it' }),
      }),
    )
    .superRefine((users, context) => {
      const repeated = firstRepeated(users.map(({ username }) => username));
      if (repeated !== undefined) context.addIssue(`user '${repeated}' is there twice`);
    }),
});
export type UsersFile = z.infer<typeof usersFileSchema>;

/** Why a file of users cannot be read or changed. The text never holds a hash. */
export class UsersFileError extends Error {
  override readonly name = 'UsersFileError';

  constructor(
    readonly code: 'missing' | 'unreadable' | 'broken' | 'user-exists' | 'locked' | 'invalid-user',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

function errorCodeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function unreadable(file: string, cause: unknown): UsersFileError {
  const code = errorCodeOf(cause);
  if (code === 'ENOENT')
    return new UsersFileError('missing', `there is no file of users at ${file}`, { cause });
  return new UsersFileError('unreadable', `the file of users at ${file} cannot be read: ${String(code)}`, {
    cause,
  });
}

/** A mark that differs whenever the file was written again. @throws {UsersFileError} `missing`, `unreadable` */
export async function versionOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(':');
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

async function readText(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size <= MAX_USERS_FILE_BYTES) return await readFile(file, 'utf8');
  } catch (cause) {
    throw unreadable(file, cause);
  }
  throw new UsersFileError(
    'broken',
    `the file of users at ${file} is larger than ${MAX_USERS_FILE_BYTES} bytes`,
  );
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No cause: the text of a SyntaxError quotes the file, and so perhaps a hash.
    throw new UsersFileError('broken', `the file of users at ${file} is not JSON`);
  }
}

/** Reads a file of users. @throws {UsersFileError} `missing`, `unreadable`, `broken` */
export async function readUsersFile(file: string): Promise<UsersFile> {
  const parsed = usersFileSchema.safeParse(parseJson(file, await readText(file)));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const problem = `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`;
  throw new UsersFileError('broken', `the file of users at ${file} is wrong at ${problem}`);
}

async function readOrEmpty(file: string): Promise<UsersFile> {
  try {
    return await readUsersFile(file);
  } catch (error) {
    if (error instanceof UsersFileError && error.code === 'missing') return { users: [] };
    throw error;
  }
}

async function targetOf(file: string): Promise<string> {
  try {
    return await realpath(file); // a link stays a link
  } catch (cause) {
    if (errorCodeOf(cause) === 'ENOENT') return file;
    throw unreadable(file, cause);
  }
}

/** Opens the new version of a file beside it. It exists once only, so that two writers cannot undo each other. */
async function openNewVersion(path: string) {
  try {
    return await open(path, 'wx', 0o600);
  } catch (cause) {
    if (errorCodeOf(cause) !== 'EEXIST') throw cause;
    throw new UsersFileError('locked', `another change is being made; if none is, delete ${path}`, { cause });
  }
}

/** Replaces a file by what `change` makes of its users: whole or not at all, readable by its owner alone. */
async function rewrite(file: string, change: (current: UsersFile) => UsersFile): Promise<void> {
  const target = await targetOf(file);
  const path = `${target}.new`;
  const handle = await openNewVersion(path);
  try {
    try {
      const next = change(await readOrEmpty(target));
      await handle.writeFile(`${JSON.stringify(next, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(path, target);
  } catch (error) {
    await unlink(path);
    throw error;
  }
}

/** How {@link addUser} treats a name that is there already. */
export interface AddUserOptions {
  /** Gives that user the new hash instead of refusing. @default false */
  readonly replace?: boolean;
}

/**
 * Adds a user to a file, which is made when there is none (its folder is not). The change is atomic, and the
 * file is then readable by its owner alone (mode 0600). A running hub sees it at the next login.
 * @throws {UsersFileError} `user-exists`, `invalid-user`, `locked`, `unreadable`, `broken`
 */
export async function addUser(
  file: string,
  username: string,
  passwordHash: string,
  options: AddUserOptions = {},
): Promise<void> {
  const added = { username, passwordHash };
  if (!usersFileSchema.safeParse({ users: [added] }).success) {
    throw new UsersFileError(
      'invalid-user',
      'expected a user name of 1 to 256 characters and a password hash',
    );
  }
  await rewrite(file, ({ users }) => {
    const at = users.findIndex((user) => user.username === username);
    if (at === -1) return { users: [...users, added] };
    if (options.replace !== true)
      throw new UsersFileError('user-exists', `there is a user '${username}' already`);
    return { users: users.with(at, added) };
  });
}
