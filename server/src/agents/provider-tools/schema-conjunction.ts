import { isDeepStrictEqual } from 'node:util';
import { isJsonArray, isJsonObject, ownProperty, type JsonObject } from '../../json/json-values.js';

/** Keywords that look at one another: those of one group stay together. */
const groups: readonly (readonly string[])[] = [
  ['properties', 'patternProperties', 'additionalProperties'],
  ['prefixItems', 'items'],
  ['contains', 'minContains', 'maxContains'],
  ['if', 'then', 'else'],
];
const grouped: ReadonlySet<string> = new Set(groups.flat());

/** Keywords that allow or refuse values by themselves. */
const assertions: ReadonlySet<string> = new Set([
  ...['type', 'enum', 'const', 'not', 'anyOf', 'oneOf', 'pattern', 'minLength', 'maxLength'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'propertyNames'],
  ...['dependentRequired', 'dependentSchemas', 'dependencies'],
]);

/**
 * One schema for values that fit both, if their keywords can stand side by side without changing what they mean;
 * what only describes is taken of the second. Undefined where it takes an `allOf`.
 */
export function conjunction(first: JsonObject, second: JsonObject): JsonObject | undefined {
  if (hasUnevaluated(first) && !isOnlyDescription(second)) return undefined;
  if (hasUnevaluated(second) && !isOnlyDescription(first)) return undefined;
  if (groups.some((group) => meetInGroup(group, first, second))) return undefined;
  for (const keyword of assertions) {
    if (!Object.hasOwn(first, keyword) || !Object.hasOwn(second, keyword)) continue;
    if (!isDeepStrictEqual(first[keyword], second[keyword])) return undefined;
  }
  return { ...first, ...second, ...lists(first, second), ...joinedProperties(first, second) };
}

function hasUnevaluated(schema: JsonObject): boolean {
  return Object.hasOwn(schema, 'unevaluatedProperties') || Object.hasOwn(schema, 'unevaluatedItems');
}

function isOnlyDescription(schema: JsonObject): boolean {
  return Object.keys(schema).every(
    (keyword) =>
      !assertions.has(keyword) &&
      !grouped.has(keyword) &&
      !['required', 'allOf', 'unevaluatedProperties', 'unevaluatedItems'].includes(keyword),
  );
}

/** Whether both say something of a group, but for properties that do not contradict each other. */
function meetInGroup(group: readonly string[], first: JsonObject, second: JsonObject): boolean {
  const [ofFirst, ofSecond] = [saidOf(group, first), saidOf(group, second)];
  if (ofFirst.length === 0 || ofSecond.length === 0) return false;
  if (![...ofFirst, ...ofSecond].every((keyword) => keyword === 'properties')) return true;
  const others = objectAt(second, 'properties');
  return Object.entries(objectAt(first, 'properties')).some(
    ([name, schema]) => Object.hasOwn(others, name) && !isDeepStrictEqual(schema, others[name]),
  );
}

/** The keywords of the group in the schema; empty `properties` say nothing. */
function saidOf(group: readonly string[], schema: JsonObject): string[] {
  return group.filter(
    (keyword) =>
      Object.hasOwn(schema, keyword) &&
      (keyword !== 'properties' || Object.keys(objectAt(schema, keyword)).length > 0),
  );
}

function lists(first: JsonObject, second: JsonObject): JsonObject {
  const joined: [string, unknown][] = [];
  for (const keyword of ['required', 'allOf']) {
    const [one, other] = [ownProperty(first, keyword), ownProperty(second, keyword)];
    if (!isJsonArray(one) || !isJsonArray(other)) continue;
    joined.push([keyword, keyword === 'required' ? [...new Set([...one, ...other])] : [...one, ...other]]);
  }
  return Object.fromEntries(joined);
}

function joinedProperties(first: JsonObject, second: JsonObject): JsonObject {
  if (!Object.hasOwn(first, 'properties') || !Object.hasOwn(second, 'properties')) return {};
  return { properties: { ...objectAt(first, 'properties'), ...objectAt(second, 'properties') } };
}

function objectAt(schema: JsonObject, keyword: string): JsonObject {
  const value = ownProperty(schema, keyword);
  return isJsonObject(value) ? value : {};
}
