import type { JsonObject } from '@remotes-hub/protocol';

/** A small schema that stands for 2 ** `levels` places once its references are followed. */
export function doublingSchema(levels: number): JsonObject {
  const $defs: JsonObject = {};
  for (let level = 0; level < levels; level += 1) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { properties: { a: next, b: next } };
  }
  return { type: 'object', $ref: '#/$defs/d0', $defs: { ...$defs, [`d${levels}`]: {} } };
}
