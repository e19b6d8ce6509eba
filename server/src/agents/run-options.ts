import { MAX_NAME_LENGTH, remoteSelectionSchema } from '@remotes-hub/protocol';
import { isJsonObject, kindOf, ownProperty } from '../json/json-values.js';
import type { RunWarnings } from './run-warnings.js';

/** Most entries of `options.remotes` and of `options.tools` that are read. */
const MAX_ENTRIES = 1_000;

/** A remote whose functions become tools, each named `prefix + function name`. */
export interface SelectedRemote {
  readonly name: string;
  readonly prefix: string;
}

/** The options of a prompt, checked; what does not fit has become a warning. */
export interface RunOptions {
  /** Without exact duplicates, in order. */
  readonly remotes: readonly SelectedRemote[];
  /** Names of native tools that replace the toolset; `undefined` when the prompt does not say. */
  readonly tools: readonly string[] | undefined;
  readonly maxSteps: number;
}

/**
 * Reads the options of a prompt. They come from outside: own properties only, and nothing in them is an error.
 * `null` is the same as absent.
 */
export function readRunOptions(options: unknown, maxRunSteps: number, warnings: RunWarnings): RunOptions {
  const given = isJsonObject(options) ? options : {};
  return {
    remotes: readRemotes(ownProperty(given, 'remotes'), warnings),
    tools: readTools(ownProperty(given, 'tools'), warnings),
    maxSteps: readMaxSteps(ownProperty(given, 'maxSteps'), maxRunSteps, warnings),
  };
}

function readRemotes(value: unknown, warnings: RunWarnings): SelectedRemote[] {
  const selected = new Map<string, SelectedRemote>();
  for (const [index, entry] of readArray('options.remotes', value, warnings).entries()) {
    const parsed = remoteSelectionSchema.safeParse(entry);
    if (!parsed.success) {
      warnings.add(
        `options.remotes[${index}]: expected a remote's name or {name, prefix}; the entry is skipped`,
      );
      continue;
    }
    const remote =
      typeof parsed.data === 'string'
        ? { name: parsed.data, prefix: '' }
        : { name: parsed.data.name, prefix: parsed.data.prefix ?? '' };
    selected.set(JSON.stringify([remote.name, remote.prefix]), remote);
  }
  return [...selected.values()];
}

function readTools(value: unknown, warnings: RunWarnings): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const names = new Set<string>();
  for (const [index, entry] of readArray('options.tools', value, warnings).entries()) {
    if (typeof entry === 'string' && entry.length <= MAX_NAME_LENGTH) names.add(entry);
    else warnings.add(`options.tools[${index}]: expected the name of a native tool; the entry is skipped`);
  }
  return [...names];
}

function readArray(path: string, value: unknown, warnings: RunWarnings): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    warnings.add(`${path}: expected an array, received ${kindOf(value)}; the run goes on without`);
    return [];
  }
  const entries: unknown[] = value;
  if (entries.length > MAX_ENTRIES) {
    warnings.add(`${path}: ${entries.length} entries, only the first ${MAX_ENTRIES} are read`);
  }
  return entries.slice(0, MAX_ENTRIES);
}

function readMaxSteps(value: unknown, maxRunSteps: number, warnings: RunWarnings): number {
  if (value === undefined || value === null) return maxRunSteps;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= maxRunSteps)
    return value;
  warnings.add(`options.maxSteps: expected an integer from 1 to ${maxRunSteps}; the limit is ${maxRunSteps}`);
  return maxRunSteps;
}
