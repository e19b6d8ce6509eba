import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { hashPassword } from '../passwords/passwords.js';
import { checkUserName } from './arguments.js';
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
      const username = checkUserName(name);
      const file = await usersFileOf(options);
      const password = await readNewPassword(stdin, prompt);
      const { addUser } = await import('../authentication/users.js');
      await addUser(file, username, await hashPassword(password), { replace: options.replace === true });
      output.note(`user '${name}' is in ${file}`);
    });
}

async function usersFileOf({ config, file }: UserOptions): Promise<string> {
  if (file !== undefined) return resolve(file);
  if (config === undefined) throw usageError('where to? give --file, or --config with auth.usersFile');
  const { readConfigFile } = await import('../config/load-config.js');
  const { usersFile } = readConfigFile(config).auth;
  if (usersFile !== undefined) return usersFile;
  throw usageError(`${config} names no auth.usersFile: add it, or give --file`);
}
