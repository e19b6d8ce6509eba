/** An object parsed from JSON. Only own properties count: a key may be `__proto__` or `constructor`. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The kinds of JSON values, and `undefined` and the like for what no JSON text gives. */
export type ValueKind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object' | 'not a JSON value';

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** The word for a value's kind in a message; it tells nothing of the content. */
export function kindOf(value: unknown): ValueKind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' || type === 'object'
    ? type
    : 'not a JSON value';
}

/** An own property, or undefined. */
export function ownProperty(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Integers, and the infinities: `1e400` is an integer in the text that gave it. */
export function isInteger(value: unknown): boolean {
  return Number.isInteger(value) || value === Infinity || value === -Infinity;
}
