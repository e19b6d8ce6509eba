import { childPointer } from '../../json-schema/json-pointer.js';
import type { Location } from '../../json-schema/resources.js';
import { isJsonArray, isJsonObject, kindOf, ownProperty, type JsonObject } from '../../json/json-values.js';

/** A kind of JSON value, as the `type` of a schema tells it; integers are numbers. */
export type Kind = 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array';

/** A schema that is an object, and where it stands. */
export interface SchemaSite extends Location {
  readonly schema: JsonObject;
}

const kindNames: ReadonlyMap<unknown, Kind> = new Map([
  ['string', 'string'],
  ['number', 'number'],
  ['integer', 'number'],
  ['boolean', 'boolean'],
  ['null', 'null'],
  ['object', 'object'],
  ['array', 'array'],
]);

const objectKeywords = ['properties', 'required', 'additionalProperties', 'patternProperties'];
const arrayKeywords = ['items', 'prefixItems'];

/** The kinds that `type` names; undefined when it names none. */
export function declaredKinds({ schema }: SchemaSite): readonly Kind[] | undefined {
  const type = ownProperty(schema, 'type');
  const names = isJsonArray(type) ? type : [type];
  const kinds = names.flatMap((name) => kindNames.get(name) ?? []);
  return kinds.length === 0 ? undefined : [...new Set(kinds)];
}

/** The kinds that a schema without `type` seems to mean: those of which it describes a part. */
export function describedKinds({ schema }: SchemaSite): readonly Kind[] {
  const kinds: Kind[] = [];
  if (objectKeywords.some((keyword) => Object.hasOwn(schema, keyword))) kinds.push('object');
  if (arrayKeywords.some((keyword) => Object.hasOwn(schema, keyword))) kinds.push('array');
  return kinds;
}

/** The values of `const` or `enum` that are of these kinds; undefined when there is neither. */
export function listedValues(
  { schema }: SchemaSite,
  kinds: readonly Kind[] | undefined,
): readonly unknown[] | undefined {
  const list = Object.hasOwn(schema, 'const') ? [schema['const']] : ownProperty(schema, 'enum');
  if (!isJsonArray(list)) return undefined;
  return kinds === undefined ? list : list.filter((value) => kinds.some((kind) => kind === kindOf(value)));
}

/** The schema that a keyword holds. */
export function partAt(site: SchemaSite, keyword: string): Location | undefined {
  if (!Object.hasOwn(site.schema, keyword)) return undefined;
  return part(site, keyword, site.schema[keyword]);
}

/** The schemas in a list that a keyword holds; undefined when it holds none. */
export function partsIn(site: SchemaSite, keyword: string): readonly Location[] | undefined {
  const list = ownProperty(site.schema, keyword);
  if (!isJsonArray(list)) return undefined;
  return list.map((schema, index) => part(site, `${keyword}/${index}`, schema));
}

/** The schemas by name that a keyword holds. */
export function namedParts(site: SchemaSite, keyword: string): readonly (readonly [string, Location])[] {
  const map = ownProperty(site.schema, keyword);
  if (!isJsonObject(map)) return [];
  const path = `${site.path}/${keyword}`;
  return Object.entries(map).map(([name, schema]) => [
    name,
    { schema, path: childPointer(path, name), resource: site.resource },
  ]);
}

function part({ path, resource }: SchemaSite, below: string, schema: unknown): Location {
  return { schema, path: `${path}/${below}`, resource };
}
