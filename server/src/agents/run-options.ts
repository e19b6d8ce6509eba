import { MAX_NAME_LENGTH, remoteSelectionSchema } from '@remotes-hub/protocol';
import { JsonText } from '../json/json-text.js';
import { isJsonObject, kindOf, ownProperty } from '../json/json-values.js';
import type { RunWarnings } from './run-warnings.js';

/** Most entries of `options.remotes` and of `options.tools` that are read. */
const MAX_ENTRIES = 1_000;
/** Longest `options.context`, as bytes of JSON text. */
const MAX_CONTEXT_BYTES = 64 * 1024;
/** Longest `options.system`, in bytes of UTF-8. */
const MAX_SYSTEM_BYTES = 16 * 1024;

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
  /** The conversation that the run continues. */
  readonly conversationId: string | undefined;
  /** Any JSON value, not to be trusted: `contextMessage` shows it to a model. */
  readonly context: JsonText | undefined;
  /** Comes after the agent's instructions. */
  readonly system: string | undefined;
  readonly maxSteps: number;
  readonly timeoutMs: number;
}

/** The agent's limits of a run; a prompt may ask for less. */
export interface RunBounds {
  readonly maxSteps: number;
  readonly timeoutMs: number;
}

/**
 * Reads the options of a prompt. They come from outside: own properties only, and nothing in them is an error.
 * `null` is the same as absent.
 */
export function readRunOptions(options: unknown, bounds: RunBounds, warnings: RunWarnings): RunOptions {
  const given = isJsonObject(options) ? options : {};
  return {
    remotes: readRemotes(ownProperty(given, 'remotes'), warnings),
    tools: readTools(ownProperty(given, 'tools'), warnings),
    conversationId: readConversationId(ownProperty(given, 'conversationId'), warnings),
    context: readContext(ownProperty(given, 'context'), warnings),
    system: readSystem(ownProperty(given, 'system'), warnings),
    maxSteps: readBounded('maxSteps', ownProperty(given, 'maxSteps'), bounds.maxSteps, warnings),
    timeoutMs: readBounded('timeoutMs', ownProperty(given, 'timeoutMs'), bounds.timeoutMs, warnings),
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

function readConversationId(value: unknown, warnings: RunWarnings): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value !== '' && value.length <= MAX_NAME_LENGTH) return value;
  warnings.add(
    `options.conversationId: expected a string of 1 to ${MAX_NAME_LENGTH} characters; the run belongs to no conversation`,
  );
  return undefined;
}

function readContext(value: unknown, warnings: RunWarnings): JsonText | undefined {
  if (value === undefined || value === null) return undefined;
  const context = JsonText.of(value);
  const bytes = Buffer.byteLength(context.text);
  if (bytes <= MAX_CONTEXT_BYTES) return context;
  warnings.add(
    `options.context: ${bytes} bytes of JSON, at most ${MAX_CONTEXT_BYTES} are taken; the run goes on without`,
  );
  return undefined;
}

function readSystem(value: unknown, warnings: RunWarnings): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') {
    warnings.add(`options.system: expected a string, received ${kindOf(value)}; the run goes on without`);
    return undefined;
  }
  const bytes = Buffer.byteLength(value);
  if (bytes <= MAX_SYSTEM_BYTES) return value;
  warnings.add(
    `options.system: ${bytes} bytes, at most ${MAX_SYSTEM_BYTES} are taken; the run goes on without`,
  );
  return undefined;
}

function readBounded(
  name: 'maxSteps' | 'timeoutMs',
  value: unknown,
  limit: number,
  warnings: RunWarnings,
): number {
  if (value === undefined || value === null) return limit;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= limit) return value;
  warnings.add(`options.${name}: expected an integer from 1 to ${limit}; the limit is ${limit}`);
  return limit;
}
