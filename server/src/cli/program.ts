import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { isObject } from '../config/plain-object.js';
import { addCallCommand } from './call.js';
import type { CommandContext } from './command-context.js';
import { addConformanceCommand } from './conformance.js';
import {
  CommandError,
  describeError,
  errorFields,
  exitCodeOf,
  exitCodes,
  type ExitCode,
} from './exit-codes.js';
import { addLintCommand } from './lint.js';
import { addListCommand } from './list.js';
import { addPromptCommand } from './prompt.js';
import { addServeCommand } from './serve.js';
import { addStartCommand } from './start.js';
import { addTokenCommand } from './token.js';
import { addTypesCommand } from './types.js';
import { addUserCommand } from './user.js';

const epilogue = `
Exit codes: 0 done, 1 the call or the run failed, 2 wrong usage, 3 cannot connect or log in.
REMOTES_HUB_URL and REMOTES_HUB_TOKEN say which hub, and who you are.`;

/*
 * Commands load what is large (the hub, the configuration's schema) when they run, so that `list` and `call`,
 * which need none of it, start in half the time.
 */

/** Runs the command that the arguments name, and says what went wrong. Never rejects. */
export async function runCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const program = createProgram(context);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    report(error, args, context);
    return exitCodeOf(error);
  }
}

function createProgram(context: CommandContext): Command {
  const { output } = context;
  const program = new Command('remotes-hub')
    .description('A hub through which your sessions serve functions, and your agents and sessions call them.')
    .version(version())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.text(text),
      writeErr: (text) => output.note(text.trimEnd()),
    })
    .addHelpText('after', epilogue);
  addStartCommand(program, context);
  addServeCommand(program, context);
  addListCommand(program, context);
  addLintCommand(program, context);
  addTypesCommand(program, context);
  addCallCommand(program, context);
  addPromptCommand(program, context);
  addConformanceCommand(program, context);
  addTokenCommand(program, context);
  addUserCommand(program, context);
  return program;
}

/** Commander has said what is wrong with its own errors. */
function report(error: unknown, args: readonly string[], { output }: CommandContext): void {
  if (error instanceof CommanderError) return;
  if (error instanceof CommandError && error.message === '') return;
  output.note(`error: ${describeError(error)}`);
  if (args.includes('--json') && exitCodeOf(error) !== exitCodes.usage) output.json(errorFields(error));
}

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const manifest: unknown = JSON.parse(text);
  return isObject(manifest) && typeof manifest['version'] === 'string' ? manifest['version'] : 'unknown';
}
