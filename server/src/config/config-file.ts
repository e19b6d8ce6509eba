import { ConfigError } from './config-error.js';
import { findSyntaxProblem } from './json-syntax.js';
import { TextFileError, readTextFile } from './text-file.js';

/** Largest configuration file, in bytes. */
export const MAX_CONFIG_BYTES = 4 * 1024 * 1024;

/**
 * The JSON value in a configuration file; a byte order mark at its start is allowed.
 * @throws {ConfigError} naming the line and the column where it is not JSON
 */
export function readJsonFile(file: string): unknown {
  const text = readText(file);
  try {
    return JSON.parse(text);
  } catch {
    const { line, column, message } = findSyntaxProblem(text) ?? { line: 1, column: 1, message: 'not JSON' };
    throw new ConfigError([{ path: '', message: `line ${line}, column ${column}: ${message}` }], file);
  }
}

function readText(file: string): string {
  try {
    return readTextFile(file, MAX_CONFIG_BYTES);
  } catch (cause) {
    const message = cause instanceof TextFileError ? cause.message : 'cannot be read';
    throw new ConfigError([{ path: '', message }], file, { cause });
  }
}
