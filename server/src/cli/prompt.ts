import type { RemoteSelection, RunEvent } from '@remotes-hub/protocol';
import type { Command } from 'commander';
import { parseJson, remoteArgument } from './arguments.js';
import type { CommandContext } from './command-context.js';
import { CommandError, exitCodes } from './exit-codes.js';
import {
  checkedByClient,
  connectToHub,
  withConnectionOptions,
  type ConnectionOptions,
} from './hub-connection.js';
import { Interruption } from './interruption.js';
import { RunPrinter } from './run-printer.js';

interface PromptOptions extends ConnectionOptions {
  readonly remote?: readonly RemoteSelection[];
  readonly conversation?: string;
  /** JSON text. */
  readonly context?: string;
  readonly json?: boolean;
}

/** `remotes-hub prompt`: one run of an agent, shown as it goes. */
export function addPromptCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('prompt')
    .description('prompt an agent and show its run')
    .argument('<agent>', 'the id of the agent')
    .argument('<instruction>', 'what it is to do')
    .option(
      '--remote <name[=prefix]>',
      'a remote whose functions the agent may call, with a prefix for their names; may be given several times',
      remoteArgument,
    )
    .option('--conversation <id>', 'go on with what earlier runs with this id said')
    .option('--context <json>', 'data for the agent, which it is told not to trust');
  withConnectionOptions(command)
    .option('--json', 'print every event of the run as one line of JSON')
    .action((agent: string, instruction: string, options: PromptOptions) =>
      prompt(agent, instruction, options, context),
    );
}

async function prompt(
  agent: string,
  instruction: string,
  { remote: remotes = [], conversation, context, ...options }: PromptOptions,
  { env, output, exitNow }: CommandContext,
): Promise<void> {
  const input = {
    remotes,
    ...(conversation !== undefined && { conversationId: conversation }),
    ...(context !== undefined && { context: parseJson(context, '--context') }),
  };
  using interruption = new Interruption(exitNow);
  await using hub = await connectToHub(options, env, interruption.signal);
  const run = await checkedByClient(hub.prompt(agent, instruction, input));
  const cancelled = interruption.wait().then(() => run.cancel());
  cancelled.catch(() => undefined); // the iteration below reports a lost connection
  const printer = new RunPrinter(output);
  let last: RunEvent | undefined;
  for await (const event of run) {
    if (options.json === true) output.json(event);
    else printer.print(event);
    last = event;
  }
  if (last?.action !== 'run-finished') throw new CommandError(exitCodes.unreachable, 'the run broke off');
  const { status, error } = last.body;
  if (status === 'completed') return;
  throw new CommandError(
    exitCodes.failed,
    `the run ended: ${status}${error === undefined ? '' : ` (${error})`}`,
  );
}
