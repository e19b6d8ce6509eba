import { HubError } from '@remotes-hub/client';
import type { Command } from 'commander';
import type { CommandContext } from './command-context.js';
import { connectToHub, withConnectionOptions, type ConnectionOptions } from './hub-connection.js';
import { Interruption } from './interruption.js';

interface TypesOptions extends ConnectionOptions {
  readonly json?: boolean;
}

/** `remotes-hub types`: the functions of a connected remote as a TypeScript interface. */
export function addTypesCommand(program: Command, { env, output, exitNow }: CommandContext): void {
  const command = program
    .command('types')
    .description('print the functions of a remote as a TypeScript interface')
    .argument('<remote>', 'the name of the remote');
  withConnectionOptions(command)
    .option('--json', 'print {remotename, name, text} as one line of JSON')
    .action(async (remotename: string, { json, ...options }: TypesOptions) => {
      using interruption = new Interruption(exitNow);
      await using hub = await connectToHub(options, env, interruption.signal);
      const remote = (await hub.list()).find((one) => one.remotename === remotename);
      if (remote === undefined) {
        const message = `no connected remote named '${remotename}'`;
        throw new HubError({ code: 'remote-not-connected', message });
      }
      const { remoteTypes } = await import('./typescript/remote-types.js');
      const { name, text } = remoteTypes(remotename, remote.tools);
      if (json === true) output.json({ remotename, name, text });
      else output.text(text);
    });
}
