import type { ConfigProblem } from './config-error.js';
import { describeIssues } from './config-problems.js';
import { configSchema, type HubConfig } from './config-schema.js';
import { isObject } from './plain-object.js';

/** A configuration as far as it fits, the sections that do not, and why. */
export interface ParsedConfig {
  readonly config: HubConfig;
  readonly broken: ReadonlySet<string>;
  readonly problems: ConfigProblem[];
}

/**
 * Parses a configuration. Sections that do not fit are replaced by their defaults, so that the others can still
 * be checked.
 */
export function parseConfig(input: unknown): ParsedConfig {
  const result = configSchema.safeParse(input);
  if (result.success) return { config: result.data, broken: new Set(), problems: [] };
  const problems = describeIssues(result.error.issues, input);
  const broken = new Set(result.error.issues.flatMap((issue) => issue.path.slice(0, 1).map(String)));
  const sound = configSchema.safeParse(
    pick(input, (key) => Object.hasOwn(configSchema.shape, key) && !broken.has(key)),
  );
  if (sound.success) return { config: sound.data, broken, problems };
  return { config: configSchema.parse({}), broken: new Set(Object.keys(configSchema.shape)), problems };
}

function pick(input: unknown, keep: (key: string) => boolean): unknown {
  if (!isObject(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([key]) => keep(key)));
}
