import type { StateChange } from '@remotes-hub/client';
import type { Command } from 'commander';
import type { CommandContext } from './command-context.js';
import { CommandError, exitCodes } from './exit-codes.js';
import {
  checkedByClient,
  connectToHub,
  withConnectionOptions,
  type ConnectionOptions,
} from './hub-connection.js';
import { Interruption } from './interruption.js';
import { RunningCalls } from './running-calls.js';
import { loadServedModule } from './served-module.js';

/** How long calls in flight may go on after the command was told to stop. */
const DRAIN_TIMEOUT_MS = 30_000;

interface ServeOptions extends ConnectionOptions {
  readonly name: string;
  readonly json?: boolean;
  readonly reconnect: boolean;
}

/** `remotes-hub serve`: serves the functions of a module until it is told to stop. */
export function addServeCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('serve')
    .description('serve the exported functions of a JavaScript module as a remote')
    .argument('<module>', 'the path of the module')
    .requiredOption('--name <name>', 'the name of the remote')
    .option('--no-reconnect', 'end when the connection is lost, instead of coming back');
  withConnectionOptions(command)
    .option('--json', 'print what is served as JSON')
    .action((path: string, options: ServeOptions) => serve(path, options, context));
}

async function serve(
  path: string,
  options: ServeOptions,
  { env, output, exitNow }: CommandContext,
): Promise<void> {
  const { functions, ignored } = await loadServedModule(path);
  for (const name of ignored) output.note(`left out: ${name} is no function`);
  using interruption = new Interruption(exitNow);
  await using hub = await connectToHub(options, env, interruption.signal, options);
  hub.on('state', (change) => output.note(describeState(change)));
  hub.on('serve-failed', ({ message }) => output.note(message));
  const calls = new RunningCalls((text) => output.note(text));
  const remote = await checkedByClient(hub.serve(options.name, calls.watch(functions)));
  if (options.json === true) output.json({ remotename: options.name, functions: [...functions.keys()] });
  else output.line(`serving ${options.name}: ${[...functions.keys()].join(', ')}`);

  const ended = await Promise.race([interruption.wait(), hub.closed]);
  if (ended !== undefined) {
    const reason = ended.reason === '' ? '' : `: ${ended.reason}`;
    throw new CommandError(
      exitCodes.unreachable,
      `the hub has closed the connection (${ended.code}${reason})`,
    );
  }
  await remote.disconnect({ drain: true });
  await calls.drained(DRAIN_TIMEOUT_MS);
}

function describeState({ state, close }: StateChange): string {
  if (state === 'open') return 'connected again';
  const reason = close?.reason ?? '';
  return `connection lost (${close?.code ?? 1006}${reason === '' ? '' : `: ${reason}`}), ${state}`;
}
