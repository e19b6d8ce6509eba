import { dirname, resolve } from 'node:path';
import { checkConfig } from './config-checks.js';
import { ConfigError } from './config-error.js';
import { readJsonFile } from './config-file.js';
import { isBuiltInTool, type HubConfig } from './config-schema.js';
import { resolveSecrets, withoutSecrets, type Secrets } from './config-secrets.js';
import { parseConfig } from './parse-config.js';
import { isObject } from './plain-object.js';
import { readTextFile } from './text-file.js';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A configuration that passed every check. */
export interface LoadedConfig {
  /**
   * Complete: every default filled in, `auth.usersFile` and modules of tools absolute. Secrets are references,
   * or a remark in their place, so that it can be shown; hashes of passwords are still in it.
   */
  readonly config: HubConfig;
  /** What the references stand for. Never logged. */
  readonly secrets: Secrets;
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
  // a section that does not fit has been replaced by its default, which refers to nothing
  const secrets = resolveSecrets(config, { env, directory, readFile: readTextFile }, problems);
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

/** Paths become absolute, and an IPv6 address loses the brackets that it has in a URL. */
function normalized(config: HubConfig, directory: string): HubConfig {
  const host = config.host.replace(/^\[(.*)\]$/, '$1');
  const { usersFile, ...auth } = config.auth;
  const agents = config.agents.map((agent) => ({
    ...agent,
    tools: agent.tools.map((entry) => (isBuiltInTool(entry) ? entry : resolve(directory, entry))),
  }));
  return {
    ...config,
    host,
    agents,
    auth: { ...auth, ...(usersFile !== undefined && { usersFile: resolve(directory, usersFile) }) },
  };
}
