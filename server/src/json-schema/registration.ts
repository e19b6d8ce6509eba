import type { SchemaLimits } from './limits.js';
import { SchemaError } from './schema-error.js';

/**
 * Measures a schema before anything reads it, without recursion, so that no later step can meet one
 * that is too deep or too big.
 * @throws {SchemaError}
 */
export function checkSize(schema: unknown, limits: SchemaLimits): void {
  const waiting: { value: unknown; depth: number }[] = [{ value: schema, depth: 0 }];
  let nodes = 0;
  let textLength = 0;
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    const { value, depth } = entry;
    nodes += 1;
    if (typeof value === 'string') textLength += value.length;
    if (typeof value === 'object' && value !== null) {
      if (depth >= limits.maxDepth) throw tooBig(`nested deeper than ${limits.maxDepth} levels`);
      textLength += pushChildren(value, depth + 1, waiting, limits.maxNodes - nodes);
    }
    if (nodes + waiting.length > limits.maxNodes) throw tooBig(`made of more than ${limits.maxNodes} values`);
    if (textLength > limits.maxTextLength) throw tooBig(`longer than ${limits.maxTextLength} characters`);
  }
}

/** Queues the members of an object or array, at most one more than allowed; returns the length of the keys. */
function pushChildren(
  parent: object,
  depth: number,
  waiting: { value: unknown; depth: number }[],
  allowed: number,
): number {
  let keysLength = 0;
  let count = 0;
  if (Array.isArray(parent)) {
    for (let index = 0; index < Math.min(parent.length, allowed + 1); index += 1) {
      waiting.push({ value: parent[index], depth });
    }
    return 0;
  }
  for (const [key, value] of Object.entries(parent)) {
    waiting.push({ value, depth });
    keysLength += key.length;
    count += 1;
    if (count > allowed) break;
  }
  return keysLength;
}

function tooBig(how: string): SchemaError {
  return new SchemaError('', `the schema is ${how}`);
}
