import type { LintVerdict, LintedFunction } from '@remotes-hub/protocol';
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

interface LintOptions extends ConnectionOptions {
  readonly prefix?: string;
  readonly json?: boolean;
}

/** `remotes-hub lint`: what becomes of the functions of a remote in requests to providers of models. */
export function addLintCommand(program: Command, { env, output, exitNow }: CommandContext): void {
  const command = program
    .command('lint')
    .description('tell how the functions of a remote reach the models of each provider')
    .argument('<remote>', 'the name of the remote')
    .option('--prefix <prefix>', 'the prefix that prompts will give the names');
  withConnectionOptions(command)
    .option('--json', 'print the report as one line of JSON')
    .action(async (remote: string, { prefix, json, ...options }: LintOptions) => {
      using interruption = new Interruption(exitNow);
      await using hub = await connectToHub(options, env, interruption.signal);
      const { functions, hints } = await checkedByClient(
        hub.lint(remote, { ...(prefix !== undefined && { prefix }) }),
      );
      if (json === true) output.json({ remotename: remote, functions, hints });
      else {
        for (const line of [...functions.flatMap(functionLines), ...hints.map(hintLine)]) output.line(line);
      }
      if (functions.some(isRefused)) throw new CommandError(exitCodes.failed, '');
    });
}

function isRefused({ providers }: LintedFunction): boolean {
  return Object.values(providers).some(({ status }) => status === 'refused');
}

function functionLines({ name, providers, hints }: LintedFunction): string[] {
  const verdicts = Object.entries(providers).map(
    ([provider, verdict]) => [provider, words(verdict)] as const,
  );
  const differ = new Set(verdicts.map(([, text]) => text)).size > 1;
  const lines = differ
    ? verdicts.map(([provider, text]) => `${name}  ${provider}: ${text}`)
    : verdicts.slice(0, 1).map(([, text]) => `${name}  ${text}`);
  return [...lines, ...hints.map((hint) => `  ${hintLine(hint)}`)];
}

function words({ status, name, changes = [], reason }: LintVerdict): string {
  const details = [...(name === undefined ? [] : [`sent as '${name}'`]), ...changes];
  if (reason !== undefined) details.push(reason);
  return details.length === 0 ? status : `${status}: ${details.join('; ')}`;
}

function hintLine(hint: string): string {
  return `hint: ${hint}`;
}
