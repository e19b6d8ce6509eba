import { expect } from 'vitest';
import type { CompiledSchema } from '../../../server/src/json-schema/schema.js';
import { compileSchema, SchemaError } from '../../../server/src/json-schema/schema.js';
import { timed } from './timing.js';

const limitMs = 200;

/** How an attack ends: refused when the schema is compiled, a failed keyword, or `fits`. */
export type Outcome = string;

/**
 * Compiles the schema and checks the value, both twice as a stranger could have it done, and expects
 * each to end in 200 ms.
 */
export function outcomeOf(schema: unknown, value: unknown): Outcome {
  const compiled = timed(() => compiledOrRefusal(schema), limitMs);
  expect(compiled.milliseconds).toBeLessThan(limitMs);
  const { result } = compiled;
  if (result instanceof SchemaError) return `refused: ${result.message}`;
  const checked = timed(() => result.validate(value), limitMs);
  expect(checked.milliseconds).toBeLessThan(limitMs);
  return checked.result?.keyword ?? 'fits';
}

function compiledOrRefusal(schema: unknown): CompiledSchema | SchemaError {
  try {
    return compileSchema(schema);
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
}

/** `count` values made from their index. */
export function series<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** An object with `count` entries made from their index. */
export function record<T>(count: number, make: (index: number) => readonly [string, T]): Record<string, T> {
  return Object.fromEntries(series(count, make));
}

/** Wraps a value `depth` times. */
export function nested(depth: number, wrap: (inner: unknown) => unknown, innermost: unknown): unknown {
  let value = innermost;
  for (let level = 0; level < depth; level += 1) value = wrap(value);
  return value;
}
