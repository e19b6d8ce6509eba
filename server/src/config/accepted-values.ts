import * as z from 'zod';
import { configSchema } from './config-schema.js';

/** A JSON Schema as `z.toJSONSchema` makes it. */
export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** The JSON Schema of the configuration as it is written: nothing with a default is required. */
export function configJsonSchema(): JsonSchema {
  return z.toJSONSchema(configSchema, { io: 'input' });
}

/** What a schema accepts, in words: "an integer from 0 to 65535". */
export function acceptedValues(schema: JsonSchema): string {
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return alternatives(variants.filter(isSchema));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return oneOf(schema.enum);
  if (schema.type === 'integer') return `an integer${range(schema)}`;
  if (schema.type === 'number') return `a number${range(schema)}`;
  if (schema.type === 'string') return string(schema);
  if (schema.type === 'array') return list(schema);
  return schema.type === 'object' ? 'an object' : 'another value';
}

/**
 * The schema of the value at a path, or `undefined` when the configuration knows no such place.
 * @param input the configuration: where a place has variants, it says which one was meant
 */
export function schemaAt(path: readonly PropertyKey[], input?: unknown): JsonSchema | undefined {
  let candidates: JsonSchema[] = variantsOf(configJsonSchema(), input);
  let value = input;
  for (const key of path) {
    value = ownValue(value, key);
    candidates = candidates.flatMap((schema) => step(schema, key, value));
  }
  return candidates.length > 1 ? { anyOf: candidates } : candidates[0];
}

/** The keys an object at a path may have. */
export function keysAt(path: readonly PropertyKey[], input?: unknown): readonly string[] {
  const schema = schemaAt(path, input);
  if (schema === undefined) return [];
  const keys = variantsOf(schema, undefined).flatMap((variant) => Object.keys(variant.properties ?? {}));
  return [...new Set(keys)];
}

/** An own property of a value, or `undefined`. */
export function ownValue(value: unknown, key: PropertyKey): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

function step(schema: JsonSchema, key: PropertyKey, value: unknown): JsonSchema[] {
  if (typeof key === 'number') return isSchema(schema.items) ? variantsOf(schema.items, value) : [];
  const properties = schema.properties ?? {};
  const found = Object.hasOwn(properties, key) ? properties[String(key)] : undefined;
  return isSchema(found) ? variantsOf(found, value) : [];
}

/** What a schema is a choice of: those whose constants the value has, or all when it has none of them. */
function variantsOf(schema: JsonSchema, value: unknown): JsonSchema[] {
  const variants = (schema.anyOf ?? schema.oneOf)?.filter(isSchema);
  if (variants === undefined) return [schema];
  const meant = variants.filter((variant) => hasConstants(variant, value));
  return (meant.length > 0 ? meant : variants).flatMap((variant) => variantsOf(variant, value));
}

function hasConstants({ properties = {} }: JsonSchema, value: unknown): boolean {
  const constants = Object.entries(properties).flatMap(([key, schema]) =>
    isSchema(schema) && schema.const !== undefined ? [[key, schema.const] as const] : [],
  );
  return constants.length > 0 && constants.every(([key, constant]) => ownValue(value, key) === constant);
}

function isSchema(schema: unknown): schema is JsonSchema {
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema);
}

function alternatives(schemas: readonly JsonSchema[]): string {
  return [...new Set(schemas.map(acceptedValues))].join(' or ');
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? texts.join() : `one of ${texts.join(', ')}`;
}

function range({ minimum, maximum }: JsonSchema): string {
  const least = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const most = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (least !== undefined && most !== undefined) return ` from ${least} to ${most}`;
  if (least !== undefined) return ` of at least ${least}`;
  return most === undefined ? '' : ` of at most ${most}`;
}

function string({ minLength = 0, maxLength, format }: JsonSchema): string {
  if (format === 'uri') return 'an http or https URL';
  if (maxLength !== undefined) return `a string of ${minLength} to ${maxLength} characters`;
  return minLength > 0 ? 'a non-empty string' : 'a string';
}

function list({ items, minItems = 0, maxItems }: JsonSchema): string {
  const start = minItems > 0 ? 'a non-empty list' : 'a list';
  const most = maxItems === undefined ? '' : ` (at most ${maxItems})`;
  return isSchema(items) ? `${start} of ${plural(acceptedValues(items))}${most}` : `${start}${most}`;
}

function plural(accepted: string): string {
  if (accepted === 'an object') return 'objects';
  return accepted === 'a string' ? 'strings' : accepted;
}
