import { dirname, resolve } from 'node:path';
import { checkConfig } from './config-checks.js';
import { ConfigError, type ConfigProblem } from './config-error.js';
import { readJsonFile } from './config-file.js';
import type { HubConfig } from './config-schema.js';
import { parseConfig } from './parse-config.js';
import { isObject } from './plain-object.js';
import { SecretError, isReference, resolveSecret, type SecretSources } from './secret-references.js';
import { readTextFile } from './text-file.js';

/** Fewest bytes of `auth.secret`: the width of HS256 (RFC 7518, 3.2). */
export const MIN_SECRET_BYTES = 32;

/** Stands in {@link LoadedConfig.config} for a secret that was written out in the configuration. */
export const INLINE_SECRET = '(written out in the configuration)';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A configuration that passed every check. */
export interface LoadedConfig {
  /**
   * Complete: every default filled in, `auth.usersFile` absolute. Secrets are references, or
   * {@link INLINE_SECRET}, so that it can be shown; hashes of passwords are still in it.
   */
  readonly config: HubConfig;
  /** What the references stand for. Never logged. */
  readonly secrets: Secrets;
}

/** The secrets of a configuration, resolved. */
export interface Secrets {
  /** The HS256 key as text; its UTF-8 bytes are the key, at least {@link MIN_SECRET_BYTES}. */
  readonly authSecret?: string;
}

/** Values that win over the configuration: the options of a command. */
export interface ConfigOverrides {
  readonly host?: string;
  readonly port?: number;
}

/** How {@link resolveConfig} reads what a configuration refers to. */
export interface ResolveOptions {
  /** @default {} */
  readonly env?: Environment;
  /** Folder that relative paths start from. @default the working directory */
  readonly directory?: string;
  /** The file it came from, for errors. */
  readonly file?: string;
  readonly overrides?: ConfigOverrides;
  /** The host program logs sessions in itself. @default false */
  readonly authenticatesItself?: boolean;
}

/**
 * Reads, checks and completes a configuration file; without one, the defaults. When it names no `auth.secret`,
 * the variable `REMOTES_HUB_SECRET` is it, if set.
 * @throws {ConfigError} with all problems at once
 */
export function loadConfig(
  file?: string,
  env: Environment = process.env,
  overrides: ConfigOverrides = {},
): LoadedConfig {
  const input = file === undefined ? {} : readJsonFile(file);
  const directory = file === undefined ? process.cwd() : dirname(resolve(file));
  return resolveConfig(withEnvironmentSecret(input, env), {
    env,
    directory,
    overrides,
    ...(file !== undefined && { file }),
  });
}

/**
 * Checks a configuration given as a value, completes it and resolves its secrets.
 * @throws {ConfigError} with all problems at once
 */
export function resolveConfig(input: unknown, options: ResolveOptions = {}): LoadedConfig {
  const { directory = process.cwd(), env = {}, file, authenticatesItself = false } = options;
  const { config, broken, problems } = parseConfig(withOverrides(input, options.overrides));
  problems.push(...checkConfig(config, broken, { authenticatesItself }));
  const secrets = broken.has('auth')
    ? {}
    : resolveSecrets(config, { env, directory, readFile: readTextFile }, problems);
  if (problems.length > 0) throw new ConfigError(problems, file);
  return { config: withoutSecrets(normalized(config, directory)), secrets };
}

/**
 * A configuration file as a value, with its secrets unresolved and nothing but its form checked; relative paths
 * are made absolute.
 * @throws {ConfigError}
 */
export function readConfigFile(file: string): HubConfig {
  const { config, problems } = parseConfig(readJsonFile(file));
  if (problems.length > 0) throw new ConfigError(problems, file);
  return withoutSecrets(normalized(config, dirname(resolve(file))));
}

function withOverrides(input: unknown, overrides: ConfigOverrides = {}): unknown {
  return isObject(input) ? { ...input, ...overrides } : input;
}

function withEnvironmentSecret(input: unknown, env: Environment): unknown {
  const name = 'REMOTES_HUB_SECRET';
  if (!isObject(input) || env[name] === undefined || env[name] === '') return input;
  const auth = Object.hasOwn(input, 'auth') ? input['auth'] : {};
  if (!isObject(auth) || Object.hasOwn(auth, 'secret')) return input;
  return { ...input, auth: { ...auth, secret: `env:${name}` } };
}

function resolveSecrets({ auth }: HubConfig, sources: SecretSources, problems: ConfigProblem[]): Secrets {
  if (auth.secret === undefined) return {};
  try {
    const authSecret = resolveSecret(auth.secret, sources);
    const length = Buffer.byteLength(authSecret);
    if (length >= MIN_SECRET_BYTES) return { authSecret };
    problems.push({
      path: 'auth.secret',
      message: `expected at least ${MIN_SECRET_BYTES} bytes, ${source(auth.secret)} has ${length}`,
    });
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    problems.push({ path: 'auth.secret', message: error.message });
  }
  return {};
}

/** What a reference names, for an error; the text of a secret stays out. */
function source(reference: string): string {
  return isReference(reference) ? `"${reference}"` : 'the text';
}

/** Paths become absolute, and an IPv6 address loses the brackets that it has in a URL. */
function normalized(config: HubConfig, directory: string): HubConfig {
  const host = config.host.replace(/^\[(.*)\]$/, '$1');
  const { usersFile } = config.auth;
  if (usersFile === undefined) return { ...config, host };
  return { ...config, host, auth: { ...config.auth, usersFile: resolve(directory, usersFile) } };
}

function withoutSecrets(config: HubConfig): HubConfig {
  const { secret } = config.auth;
  if (secret === undefined || isReference(secret)) return config;
  return { ...config, auth: { ...config.auth, secret: INLINE_SECRET } };
}
