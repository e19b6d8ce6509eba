import type { JsonObject } from '../json/json-values.js';
import { isJsonObject, kindOf, ownProperty } from '../json/json-values.js';
import { SchemaError } from './schema-error.js';

/** The rules that a schema is read by. Absent and unknown `$schema` addresses mean 2020-12. */
export type Dialect = 'draft-07' | '2020-12';

/** How a keyword holds schemas: one, a list, a map of names, or, for the draft-07 spellings, a mixture. */
export type SchemaHolder = 'schema' | 'schemas' | 'map' | 'schema or schemas' | 'map of schemas or names';

const commonHolders: readonly (readonly [string, SchemaHolder])[] = [
  ['definitions', 'map'],
  ['properties', 'map'],
  ['patternProperties', 'map'],
  ['additionalProperties', 'schema'],
  ['propertyNames', 'schema'],
  ['items', 'schema or schemas'],
  ['additionalItems', 'schema'],
  ['contains', 'schema'],
  ['dependencies', 'map of schemas or names'],
  ['allOf', 'schemas'],
  ['anyOf', 'schemas'],
  ['oneOf', 'schemas'],
  ['not', 'schema'],
  ['if', 'schema'],
  ['then', 'schema'],
  ['else', 'schema'],
];

const newHolders: readonly (readonly [string, SchemaHolder])[] = [
  ['$defs', 'map'],
  ['prefixItems', 'schemas'],
  ['dependentSchemas', 'map'],
  ['unevaluatedProperties', 'schema'],
  ['unevaluatedItems', 'schema'],
];

const holders: Readonly<Record<Dialect, ReadonlyMap<string, SchemaHolder>>> = {
  'draft-07': new Map(commonHolders),
  '2020-12': new Map([...commonHolders, ...newHolders]),
};

/** The keywords of a dialect that hold schemas. */
export function schemaHolders(dialect: Dialect): ReadonlyMap<string, SchemaHolder> {
  return holders[dialect];
}

/** The dialect of a document, from the `$schema` of its root. @throws {SchemaError} when that is no string */
export function dialectOf(schema: unknown): Dialect {
  if (!isJsonObject(schema)) return '2020-12';
  const address = ownProperty(schema, '$schema');
  if (address === undefined) return '2020-12';
  if (typeof address !== 'string') {
    throw new SchemaError('/$schema', `"$schema" is ${kindOf(address)}, expected a string`);
  }
  return /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(address) ? 'draft-07' : '2020-12';
}

/** Draft-07 ignores what stands beside a `$ref`. */
export function refHidesSiblings(schema: JsonObject, dialect: Dialect): boolean {
  return dialect === 'draft-07' && Object.hasOwn(schema, '$ref');
}
