import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { isObject } from '../config/plain-object.js';
import { describeFailure } from '../remotes/function-failure.js';
import {
  defineTool,
  type DefinedTool,
  type NativeToolDefinition,
  type NativeToolLimits,
} from './native-definition.js';
import type { NativeTool } from './native-tool.js';
import { untilAborted } from './until-aborted.js';

/** How long a module may take until it is ready (a top-level `await` may never end), in milliseconds. */
export const NATIVE_MODULE_TIMEOUT_MS = 10_000;

/** A module whose tools cannot be used. The message begins with its file. */
export class NativeModuleError extends Error {
  override readonly name = 'NativeModuleError';
}

/** The tools of one module, in the order of its exports. */
export interface NativeModule {
  readonly tools: readonly NativeTool[];
  /** Sentences about what of their schemas is not enforced. */
  readonly warnings: readonly string[];
}

/**
 * Loads a JavaScript module and makes tools of what it exports.
 * @param file an absolute path
 * @param timeoutMs how long it may take until it is ready
 * @throws {NativeModuleError}
 */
export async function loadNativeModule(
  file: string,
  limits: NativeToolLimits,
  timeoutMs = NATIVE_MODULE_TIMEOUT_MS,
): Promise<NativeModule> {
  const defined = findDefinitions(await importModule(file, timeoutMs), file).map(([name, definition]) =>
    define(file, name, definition, limits),
  );
  if (defined.length === 0) {
    throw new NativeModuleError(`${file} exports no tools: export function specs with a handler`);
  }
  const tools = defined.map(({ tool }) => tool);
  requireDifferentNames(file, tools);
  return { tools, warnings: defined.flatMap(({ warnings }) => warnings) };
}

async function importModule(file: string, timeoutMs: number): Promise<unknown> {
  if (!existsSync(file)) throw cannotLoad(file, 'there is no such file');
  const ending = new AbortController();
  const late = cannotLoad(file, `it was not ready within ${timeoutMs / 1_000} s`);
  const timer = setTimeout(() => ending.abort(late), timeoutMs);
  try {
    return await untilAborted(import(pathToFileURL(file).href), ending.signal);
  } catch (cause) {
    if (cause === late) throw late;
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : describeFailure(cause);
    throw cannotLoad(file, reason, { cause });
  } finally {
    clearTimeout(timer);
  }
}

function cannotLoad(file: string, reason: string, options?: ErrorOptions): NativeModuleError {
  return new NativeModuleError(`${file} cannot be loaded: ${reason}`, options);
}

/**
 * The definitions among the exports, by name: exported objects with a `handler`, and those inside an object that
 * is the default export, or that object itself. Named exports win over it; other exports are the module's own
 * business, but an object with a spec's fields and no handler is a mistake.
 */
function findDefinitions(exports: unknown, file: string): [string, NativeToolDefinition][] {
  const found = new Map<string, NativeToolDefinition>();
  for (const [name, value] of [...namedExports(exports), ...defaultExports(exports)]) {
    if (found.has(name)) continue;
    if (isDefinition(value)) found.set(name, value);
    else if (isObject(value) && ('parameters' in value || 'description' in value)) {
      throw new NativeModuleError(`${file}: '${name}' has no handler`);
    }
  }
  return [...found];
}

/** `module.exports` is what newer versions of Node add to the exports of a CommonJS module. */
function namedExports(exports: unknown): [string, unknown][] {
  return entries(exports).filter(([name]) => name !== 'default' && name !== 'module.exports');
}

function defaultExports(exports: unknown): [string, unknown][] {
  const value = new Map(entries(exports)).get('default');
  return isDefinition(value) ? [['default', value]] : entries(value);
}

function entries(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

/** The other fields are checked when the tool is made. */
function isDefinition(value: unknown): value is NativeToolDefinition {
  return isObject(value) && typeof value['handler'] === 'function';
}

function define(
  file: string,
  name: string,
  definition: NativeToolDefinition,
  limits: NativeToolLimits,
): DefinedTool {
  try {
    return defineTool(name, definition, limits);
  } catch (cause) {
    throw new NativeModuleError(`${file}: '${name}': ${describeFailure(cause)}`, { cause });
  }
}

function requireDifferentNames(file: string, tools: readonly NativeTool[]): void {
  const names = new Set<string>();
  for (const { spec } of tools) {
    if (names.has(spec.name)) throw new NativeModuleError(`${file}: the name '${spec.name}' is used twice`);
    names.add(spec.name);
  }
}
