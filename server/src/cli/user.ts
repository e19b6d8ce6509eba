import { resolve } from 'node:path';
import { userIdSchema } from '@remotes-hub/protocol';
import { Option, type Command } from 'commander';
import { readConfigFile } from '../config/load-config.js';
import { hashPassword } from '../sessions/passwords.js';
import { addUser } from '../sessions/users.js';
import type { CommandContext } from './command-context.js';
import { usageError } from './exit-codes.js';
import { readNewPassword } from './password-input.js';

interface UserOptions {
  readonly config?: string;
  readonly file?: string;
  readonly replace?: boolean;
}

/** `remotes-hub user add`: puts a user with a password into the file of users. */
export function addUserCommand(program: Command, { output, stdin, prompt }: CommandContext): void {
  program
    .command('user')
    .description('manage the users that log in with a password')
    .command('add')
    .description('add a user; the password is asked for, or read from standard input')
    .argument('<name>', 'the name to log in with')
    .addOption(
      new Option('--config <file>', 'the configuration that names the file, as auth.usersFile').conflicts(
        'file',
      ),
    )
    .option('--file <file>', 'the file of users; made when there is none')
    .option('--replace', 'give a user that is there already the new password')
    .action(async (name: string, options: UserOptions) => {
      if (!userIdSchema.safeParse(name).success) throw usageError('the name: expected 1 to 256 characters');
      const file = usersFileOf(options);
      const password = await readNewPassword(stdin, prompt);
      await addUser(file, name, await hashPassword(password), { replace: options.replace === true });
      output.note(`user '${name}' is in ${file}`);
    });
}

function usersFileOf({ config, file }: UserOptions): string {
  if (file !== undefined) return resolve(file);
  if (config === undefined) throw usageError('where to? give --file, or --config with auth.usersFile');
  const { usersFile } = readConfigFile(config).auth;
  if (usersFile !== undefined) return usersFile;
  throw usageError(`${config} names no auth.usersFile: add it, or give --file`);
}
