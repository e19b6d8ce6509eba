import type { Command } from 'commander';
import type { CommandContext } from './command-context.js';
import { connectToHub, withConnectionOptions, type ConnectionOptions } from './hub-connection.js';
import { Interruption } from './interruption.js';

interface ListOptions extends ConnectionOptions {
  readonly json?: boolean;
}

/** `remotes-hub list`: the remotes of this user and their functions. */
export function addListCommand(program: Command, { env, output, exitNow }: CommandContext): void {
  const command = program.command('list').description('list the connected remotes and their functions');
  withConnectionOptions(command)
    .option('--json', 'print the list as JSON')
    .action(async (options: ListOptions) => {
      using interruption = new Interruption(exitNow);
      await using hub = await connectToHub(options, env, interruption.signal);
      const remotes = await hub.list();
      if (options.json === true) return output.json(remotes);
      if (remotes.length === 0) output.note('no remotes are connected');
      for (const { remotename, tools } of remotes) {
        output.line(remotename);
        for (const { name, description } of tools)
          output.line(`  ${[name, firstLine(description)].join('  ')}`.trimEnd());
      }
    });
}

function firstLine(description: string | null | undefined): string {
  return description?.trim().split('\n')[0] ?? '';
}
