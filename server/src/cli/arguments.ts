import type { RemoteSelection } from '@remotes-hub/protocol';
import { MAX_CALL_TIMEOUT_MS, MAX_USER_ID_LENGTH } from '@remotes-hub/protocol/limits';
import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../config/duration.js';
import { findSyntaxProblem } from '../config/json-syntax.js';
import { isObject } from '../config/plain-object.js';
import { usageError } from './exit-codes.js';

/** A duration of an option, in milliseconds. @throws {InvalidArgumentError} */
export function durationArgument(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : 'expected a duration');
  }
}

/** The timeout of a call, in milliseconds. @throws {InvalidArgumentError} */
export function callTimeoutArgument(text: string): number {
  const timeoutMs = durationArgument(text);
  if (timeoutMs <= MAX_CALL_TIMEOUT_MS) return timeoutMs;
  throw new InvalidArgumentError(`expected at most ${MAX_CALL_TIMEOUT_MS / 60_000}m`);
}

/** A port of an option. @throws {InvalidArgumentError} */
export function portArgument(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError('expected an integer from 0 to 65535');
}

/** The arguments of a call: a JSON object. @throws {CommandError} usage, with the place where it is no JSON */
export function parseCallArguments(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text, 'arguments');
  if (isObject(value)) return value;
  throw usageError('arguments: expected a JSON object, such as \'{"city":"Rome"}\'');
}

/** A JSON value of any kind. @param what what it is, for the error @throws {CommandError} usage, with the place */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const { line, column, message } = findSyntaxProblem(text) ?? { line: 1, column: 1, message: 'not JSON' };
    throw usageError(`${what}: not JSON, line ${line}, column ${column}: ${message}`);
  }
}

/**
 * One `--remote`, added to those before it: a name, or `NAME=PREFIX`. The last "=" counts, so a name that holds
 * one is written with another at its end.
 */
export function remoteArgument(text: string, before: readonly RemoteSelection[] = []): RemoteSelection[] {
  const at = text.lastIndexOf('=');
  const name = at === -1 ? text : text.slice(0, at);
  const prefix = at === -1 ? '' : text.slice(at + 1);
  if (name === '') throw new InvalidArgumentError('expected NAME or NAME=PREFIX');
  return [...before, prefix === '' ? name : { name, prefix }];
}

/** The name of a user. @throws {CommandError} usage */
export function checkUserName(name: string): string {
  if (name !== '' && name.length <= MAX_USER_ID_LENGTH) return name;
  throw usageError(`the name of a user: expected 1 to ${MAX_USER_ID_LENGTH} characters`);
}
