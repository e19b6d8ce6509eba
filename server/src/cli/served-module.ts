import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FunctionDefinition } from '@remotes-hub/client';
import { isObject } from '../config/plain-object.js';
import { CommandError, exitCodes, usageError } from './exit-codes.js';

/** What a module offers, and what of it is left out. */
export interface ServedModule {
  readonly functions: ReadonlyMap<string, FunctionDefinition>;
  /** Names of exports that are neither functions nor objects with a `handler`. */
  readonly ignored: readonly string[];
}

/** Loads a JavaScript module by its path and finds its functions. @throws {CommandError} usage */
export async function loadServedModule(path: string): Promise<ServedModule> {
  const file = resolve(path);
  if (!existsSync(file)) throw usageError(`there is no module ${path}`);
  const served = findFunctions(await importModule(path, file));
  if (served.functions.size > 0) return served;
  throw usageError(`${path} exports no functions: export functions, or objects with a handler`);
}

async function importModule(path: string, file: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(file).href);
  } catch (cause) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    throw new CommandError(exitCodes.usage, `${path} cannot be loaded: ${reason}`, { cause });
  }
}

/**
 * The functions among the exports of a module: exported functions, exported objects `{description, parameters,
 * handler}`, and the same inside an object that is the default export. Named exports win over it. A function may
 * carry `description`, `parameters` and the like as properties.
 */
export function findFunctions(exports: unknown): ServedModule {
  const functions = new Map<string, FunctionDefinition>();
  const ignored: string[] = [];
  for (const [name, value] of [...namedExports(exports), ...defaultExports(exports)]) {
    if (functions.has(name)) continue;
    const definition = definitionOf(value);
    if (definition === undefined) ignored.push(name);
    else functions.set(name, definition);
  }
  return { functions, ignored: [...new Set(ignored)].filter((name) => !functions.has(name)) };
}

/** `module.exports` is what newer versions of Node add to the exports of a CommonJS module. */
function namedExports(exports: unknown): [string, unknown][] {
  return entries(exports).filter(([name]) => name !== 'default' && name !== 'module.exports');
}

function defaultExports(exports: unknown): [string, unknown][] {
  const value = new Map(entries(exports)).get('default');
  if (typeof value === 'function') return [[value.name === '' ? 'default' : value.name, value]];
  return entries(value);
}

function entries(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

function definitionOf(value: unknown): FunctionDefinition | undefined {
  const definition = isFunction(value)
    ? { ...Object.fromEntries(Object.entries(value)), handler: value }
    : value;
  return isDefinition(definition) ? definition : undefined;
}

/** The client checks the other fields, and its errors name them. */
function isDefinition(value: unknown): value is FunctionDefinition {
  return isObject(value) && isFunction(value['handler']);
}

/** A function that can be called; a class cannot. */
function isFunction(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === 'function' && !/^class\b/.test(Function.prototype.toString.call(value));
}
