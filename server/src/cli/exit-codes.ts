import { HubError, RemoteError } from '@remotes-hub/client';
import { CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.js';

/** How the command `remotes-hub` ends: a contract, listed in server/README.md, "Command line". */
export const exitCodes = {
  done: 0,
  /** The call, the run or the command itself failed. */
  failed: 1,
  /** Wrong arguments, wrong JSON or a wrong configuration: nothing was tried. */
  usage: 2,
  /** The hub cannot be reached, does not let this user in, or went away. */
  unreachable: 3,
} as const;

/** One of {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * A command that ends with a message for people and an exit code of its own choice; without one when its results
 * say all.
 */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Wrong arguments. */
export function usageError(message: string): CommandError {
  return new CommandError(exitCodes.usage, message);
}

const lostCodes: ReadonlySet<string> = new Set(['connection-lost', 'not-authenticated', 'shutting-down']);

/** The exit code that an error stands for. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof ConfigError) return exitCodes.usage;
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  if (error instanceof HubError && lostCodes.has(error.code)) return exitCodes.unreachable;
  return exitCodes.failed;
}

/** An error as `--json` prints it: its text, and what a failed request knows beside it. */
export function errorFields(error: unknown): Readonly<Record<string, unknown>> {
  const source = error instanceof CommandError && error.cause !== undefined ? error.cause : error;
  const text = error instanceof Error ? error.message : String(error);
  if (source instanceof RemoteError) {
    return { error: text, code: source.code, executed: source.executed, retryable: source.retryable };
  }
  return source instanceof HubError ? { error: text, code: source.code } : { error: text };
}

/** An error in words, one line for people. */
export function describeError(error: unknown): string {
  if (error instanceof RemoteError) {
    const again = error.retryable ? ', may be tried again' : '';
    return `${error.message} (${error.code}, executed: ${error.executed}${again})`;
  }
  if (error instanceof HubError) return `${error.message} (${error.code})`;
  return error instanceof Error ? error.message : String(error);
}
