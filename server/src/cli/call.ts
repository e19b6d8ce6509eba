import type { Command } from 'commander';
import { callTimeoutArgument, parseCallArguments } from './arguments.js';
import type { CommandContext } from './command-context.js';
import {
  checkedByClient,
  connectToHub,
  withConnectionOptions,
  type ConnectionOptions,
} from './hub-connection.js';
import { Interruption } from './interruption.js';
import { humanText } from './output.js';
import { readAll } from './standard-input.js';

/** Most bytes of arguments that are read from standard input: the largest frame that a hub may allow. */
const MAX_ARGUMENT_BYTES = 64 * 1024 * 1024;

interface CallOptions extends ConnectionOptions {
  readonly timeout?: number;
  readonly json?: boolean;
}

/** `remotes-hub call`: one call of a function of a remote. */
export function addCallCommand(program: Command, { env, output, stdin, exitNow }: CommandContext): void {
  const command = program
    .command('call')
    .description('call a function of a remote and print its result')
    .argument('<remote>', 'the name of the remote')
    .argument('<function>', 'the name of the function')
    .argument('[arguments]', 'a JSON object; "-" reads it from standard input', '{}');
  withConnectionOptions(command)
    .option('--timeout <duration>', 'how long to wait for the result, such as 5s', callTimeoutArgument)
    .option('--json', 'print the result, or the failure, as one line of JSON')
    .action(async (remote: string, name: string, text: string, options: CallOptions) => {
      const args = parseCallArguments(text === '-' ? await readAll(stdin, MAX_ARGUMENT_BYTES) : text);
      using interruption = new Interruption(exitNow);
      const { signal } = interruption;
      await using hub = await connectToHub(options, env, signal);
      const request = hub.call(remote, name, args, {
        signal,
        onProgress: (progress) => output.note(`progress: ${humanText(progress)}`),
        ...(options.timeout !== undefined && { timeoutMs: options.timeout }),
      });
      const result = await checkedByClient(request);
      if (options.json === true) output.json(result);
      else output.line(humanText(result));
    });
}
