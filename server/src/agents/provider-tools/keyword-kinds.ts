import { isJsonArray, isJsonObject } from '../../json/json-values.js';

/** How a keyword of draft 2020-12 holds schemas. */
export type SchemaKind = 'schema' | 'schema or boolean' | 'schemas' | 'map' | 'map of schemas or names';

const schemaKinds: ReadonlyMap<string, SchemaKind> = new Map<string, SchemaKind>([
  ...keys('schema', ['items', 'contains', 'propertyNames', 'not', 'if', 'then', 'else', 'contentSchema']),
  ...keys('schema or boolean', ['additionalProperties', 'unevaluatedItems', 'unevaluatedProperties']),
  ...keys('schemas', ['allOf', 'anyOf', 'oneOf', 'prefixItems']),
  ...keys('map', ['properties', 'patternProperties', 'dependentSchemas']),
  ['dependencies', 'map of schemas or names'],
]);

/** The schemas that a keyword holds, or undefined for one that holds none. */
export function schemaKind(keyword: string): SchemaKind | undefined {
  return schemaKinds.get(keyword);
}

function keys(kind: SchemaKind, names: readonly string[]): [string, SchemaKind][] {
  return names.map((name) => [name, kind]);
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isNumber: Check = (value) => Number.isFinite(value);
const isCount: Check = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0;
const types = ['null', 'boolean', 'number', 'integer', 'string', 'array', 'object'];
const isType: Check = (value) => typeof value === 'string' && types.includes(value);
const isNameMap: Check = (value) => isJsonObject(value) && Object.values(value).every(isNames);

/** What draft 2020-12 asks of the value of a keyword without schemas. */
const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ...['title', 'description', 'format', 'pattern', 'contentEncoding', 'contentMediaType'].map(
    checked(isText),
  ),
  ...['uniqueItems', 'deprecated', 'readOnly', 'writeOnly'].map(checked(isFlag)),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map(checked(isNumber)),
  ['multipleOf', (value) => typeof value === 'number' && value > 0 && value < Infinity],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minContains', 'maxContains'].map(checked(isCount)),
  ...['minProperties', 'maxProperties'].map(checked(isCount)),
  ['type', (value) => (isJsonArray(value) ? value.length > 0 && value.every(isType) : isType(value))],
  ['enum', (value) => isJsonArray(value) && value.length > 0],
  ['examples', isJsonArray],
  ['required', isNames],
  ['dependentRequired', isNameMap],
]);

/** Whether draft 2020-12 knows a keyword that holds no schemas. */
export function isKnown(keyword: string): boolean {
  return checks.has(keyword) || ['const', 'default'].includes(keyword);
}

/** Whether the value is one that draft 2020-12 allows for the keyword; anything goes for an unknown one. */
export function isRightValue(keyword: string, value: unknown): boolean {
  return checks.get(keyword)?.(value) ?? true;
}

/** A list of names of properties. */
export function isNames(value: unknown): value is readonly string[] {
  return isJsonArray(value) && value.every((name) => typeof name === 'string');
}

function checked(check: Check): (keyword: string) => [string, Check] {
  return (keyword) => [keyword, check];
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether a value can be sent: JSON knows no infinite number, and providers refuse halves of characters. */
export function isSendable(value: unknown): boolean {
  if (typeof value === 'string') return !LONE_SURROGATE.test(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (isJsonArray(value)) return value.every(isSendable);
  if (isJsonObject(value)) return Object.entries(value).every((entry) => entry.every(isSendable));
  return true;
}

/** Text that can be sent: halves of characters become replacement characters. */
export function sendableText(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}
