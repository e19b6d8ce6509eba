import { refHidesSiblings, type Dialect } from '../../json-schema/dialect.js';
import { isJsonArray, ownProperty, type JsonObject } from '../../json/json-values.js';

/** What draft-07 does not know: there these are words without meaning. */
const newKeywords: ReadonlySet<string> = new Set([
  ...['prefixItems', 'dependentSchemas', 'dependentRequired', 'minContains', 'maxContains'],
  ...['unevaluatedItems', 'unevaluatedProperties', 'contentSchema', '$dynamicRef'],
]);

/** What may stand beside a `$ref` in draft-07: it is ignored there, but tells a model what the value is for. */
const descriptions: ReadonlySet<string> = new Set(['$ref', 'title', 'description', 'default', 'examples']);

/**
 * The same schema object with the keywords of draft 2020-12, which Anthropic asks for; schemas inside it are not
 * touched. Older spellings are those that the hub itself understands: a list of `items`, a boolean
 * `exclusiveMinimum` or `exclusiveMaximum`, and `$ref` that hides what stands beside it.
 */
export function inCurrentSpelling(schema: JsonObject, dialect: Dialect): JsonObject {
  return withNumericBounds(withoutItemList(withoutOldMeaning(schema, dialect)));
}

function withoutOldMeaning(schema: JsonObject, dialect: Dialect): JsonObject {
  if (refHidesSiblings(schema, dialect)) return only(schema, (keyword) => descriptions.has(keyword));
  return dialect === 'draft-07' ? only(schema, (keyword) => !newKeywords.has(keyword)) : schema;
}

/** `additionalItems` speaks only beside a list of `items`. */
function withoutItemList(schema: JsonObject): JsonObject {
  const list = ownProperty(schema, 'items');
  const rest = only(schema, (keyword) => keyword !== 'additionalItems');
  if (!isJsonArray(list)) return rest;
  const others = only(rest, (keyword) => keyword !== 'items' && keyword !== 'prefixItems');
  return {
    ...others,
    ...(list.length > 0 && { prefixItems: list }),
    ...(Object.hasOwn(schema, 'additionalItems') && { items: schema['additionalItems'] }),
  };
}

function withNumericBounds(schema: JsonObject): JsonObject {
  return withNumericBound(
    withNumericBound(schema, 'minimum', 'exclusiveMinimum'),
    'maximum',
    'exclusiveMaximum',
  );
}

/** Draft-04's `true` makes the bound beside it exclusive. */
function withNumericBound(schema: JsonObject, inclusive: string, exclusive: string): JsonObject {
  const flag = ownProperty(schema, exclusive);
  if (typeof flag !== 'boolean') return schema;
  const bound = ownProperty(schema, inclusive);
  if (!flag || bound === undefined) return only(schema, (keyword) => keyword !== exclusive);
  return { ...only(schema, (keyword) => keyword !== inclusive), [exclusive]: bound };
}

function only(schema: JsonObject, isKept: (keyword: string) => boolean): JsonObject {
  const keywords = Object.keys(schema);
  if (keywords.every(isKept)) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => isKept(keyword)));
}
