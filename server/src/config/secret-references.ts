import { isAbsolute, resolve } from 'node:path';
import * as z from 'zod';

/** Longest secret, in bytes of UTF-8. */
export const MAX_SECRET_BYTES = 64 * 1024;

/**
 * A secret as the configuration names it: `env:NAME` (an environment variable), `file:PATH` (a file, relative
 * to the configuration file), or the text itself, which is discouraged because files get copied and committed.
 */
export const secretReferenceSchema = z.string().min(1);

/** Where the secrets that a configuration refers to are read from. */
export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that relative `file:` paths start from: the folder of the configuration file. */
  readonly directory: string;
  /** Text of a file of at most `maxBytes`; throws an error whose message holds no content. */
  readonly readFile: (path: string, maxBytes: number) => string;
}

/** A secret that cannot be read. The message names the variable or the file, never a value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** Whether a secret is named, and not written out in the configuration. */
export function isReference(text: string): boolean {
  return text.startsWith('env:') || text.startsWith('file:');
}

/**
 * The secret behind a reference. A file's text loses one newline at its end, which editors add.
 * @throws {SecretError} when the variable or the file is missing, empty, too large or not text
 */
export function resolveSecret(reference: string, sources: SecretSources): string {
  if (reference.startsWith('env:')) return fromEnvironment(reference.slice('env:'.length), sources);
  if (reference.startsWith('file:')) return fromFile(reference.slice('file:'.length), sources);
  return bounded(reference, 'the text');
}

function fromEnvironment(name: string, { env }: SecretSources): string {
  if (name === '')
    throw new SecretError('"env:" needs the name of a variable after it, as in "env:HUB_SECRET"');
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value === undefined) throw new SecretError(`environment variable ${name} is not set`);
  if (value === '') throw new SecretError(`environment variable ${name} is empty`);
  return bounded(value, `environment variable ${name}`);
}

function fromFile(path: string, { directory, readFile }: SecretSources): string {
  if (path === '') throw new SecretError('"file:" needs a path after it, as in "file:secrets/hub"');
  const text = read(isAbsolute(path) ? path : resolve(directory, path), readFile);
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '') throw new SecretError(`file ${path} is empty`);
  return secret;
}

function read(path: string, readFile: SecretSources['readFile']): string {
  try {
    return readFile(path, MAX_SECRET_BYTES);
  } catch (cause) {
    throw new SecretError(cause instanceof Error ? cause.message : `cannot read ${path}`, { cause });
  }
}

function bounded(secret: string, what: string): string {
  if (Buffer.byteLength(secret) <= MAX_SECRET_BYTES) return secret;
  throw new SecretError(`${what} is longer than ${MAX_SECRET_BYTES} bytes`);
}
