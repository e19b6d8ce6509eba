import { dialectOf, type Dialect } from '../../json-schema/dialect.js';
import { defaultSchemaLimits } from '../../json-schema/limits.js';
import { checkSize } from '../../json-schema/registration.js';
import { Resources, type Location, type Resource } from '../../json-schema/resources.js';
import { SchemaError } from '../../json-schema/schema-error.js';
import { isJsonArray, isJsonObject, ownProperty, type JsonObject } from '../../json/json-values.js';
import { inCurrentSpelling } from './current-spelling.js';
import { isKnown, isNames, isRightValue, isSendable, schemaKind, sendableText } from './keyword-kinds.js';
import { isPortablePattern } from './portable-patterns.js';
import { conjunction } from './schema-conjunction.js';
import { ProjectedKeywords, withoutUnevaluated, type Projected } from './projected-keywords.js';
import type { ProjectionBudget } from './projection-budget.js';

/** Deepest nesting of a projected schema, references followed; what lies deeper becomes "anything". */
const MAX_DEPTH = 24;

/** A schema to project, and where it stands. */
interface Place {
  readonly schema: unknown;
  readonly resource: Resource;
  readonly depth: number;
  /** Schemas that references being followed lead to, outermost first. */
  readonly open: readonly unknown[];
}

/**
 * Writes a schema as providers take it inside a tool's parameters: in the keywords of draft 2020-12, without
 * references, with `items` in arrays. What cannot be written so gets weaker, never stronger.
 */
export class SchemaProjector {
  /** What had to change, in words for the schema's author. */
  readonly changes = new Set<string>();
  readonly #dialect: Dialect;
  readonly #resources: Resources;
  readonly #countsItems: boolean;

  /**
   * @param takesAnyPattern whether patterns need not be portable
   * @throws {SchemaError} for what is no schema, or too big a one
   */
  constructor(
    root: JsonObject,
    private readonly budget: ProjectionBudget,
    private readonly takesAnyPattern: boolean,
  ) {
    checkSize(root, defaultSchemaLimits);
    this.#dialect = dialectOf(root);
    this.#resources = new Resources(root, this.#dialect, defaultSchemaLimits.maxReferenceLength);
    this.#countsItems = JSON.stringify(root).includes('"unevaluatedItems"');
  }

  /** @throws {ProjectionTooLarge} when it would be too large */
  project(): Projected {
    const { schema, resource } = this.#resources.root;
    return this.#schema({ schema, resource, depth: 0, open: [] });
  }

  #schema(place: Place): Projected {
    const { schema, depth } = place;
    this.budget.addSchema();
    if (schema === true) return { schema: {}, isExact: true };
    if (schema === false) return { schema: { not: {} }, isExact: true };
    if (!isJsonObject(schema)) return this.#anything('what is no schema became "anything"');
    if (depth > MAX_DEPTH) return this.#anything('what is nested too deeply became "anything"');
    const resource = this.#resources.startingAt(schema) ?? place.resource;
    const here = { ...place, resource };
    const current = inCurrentSpelling(schema, this.#dialect);
    const own = this.#keywords(current, here);
    const reference = ownProperty(current, '$ref');
    const whole = typeof reference === 'string' ? this.#both(this.#target(reference, here), own) : own;
    return this.#withItems(withoutUnevaluated(whole));
  }

  #keywords(schema: JsonObject, place: Place): Projected {
    const keywords = new ProjectedKeywords(this.changes);
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === '$dynamicRef') keywords.leaveOut(keyword);
      else if (keyword.startsWith('$') || keyword === 'definitions')
        continue; // names, all resolved
      else if (schemaKind(keyword) !== undefined) this.#applicator(keyword, value, place, keywords);
      else this.#plain(keyword, value, keywords);
    }
    return keywords.finish();
  }

  #plain(keyword: string, value: unknown, keywords: ProjectedKeywords): void {
    this.budget.addData(value);
    const text = keyword === 'title' || keyword === 'description';
    if (text && typeof value === 'string') keywords.add(keyword, sendableText(value));
    else if (!isSendable(value) || !isRightValue(keyword, value)) {
      if (isKnown(keyword)) keywords.leaveOut(keyword);
    } else if (keyword === 'pattern' && !this.#isPattern(value)) {
      keywords.leaveOut(keyword, "a 'pattern' that the provider cannot read was left out");
    } else if ((keyword === 'type' && isJsonArray(value)) || keyword === 'required')
      keywords.add(keyword, unique(value));
    else if (keyword === 'dependentRequired') keywords.add(keyword, uniqueLists(value));
    else keywords.add(keyword, value);
  }

  #applicator(keyword: string, value: unknown, place: Place, keywords: ProjectedKeywords): void {
    const inside = (schema: unknown): Projected => this.#schema({ ...place, schema, depth: place.depth + 1 });
    const kind = schemaKind(keyword);
    if (kind === 'schema or boolean' && typeof value === 'boolean') keywords.add(keyword, value);
    else if (kind === 'schema' || kind === 'schema or boolean') keywords.addSchema(keyword, inside(value));
    else if (kind === 'schemas') {
      if (isJsonArray(value) && value.length > 0) keywords.addSchemas(keyword, value.map(inside));
      else keywords.leaveOut(keyword);
    } else if (isJsonObject(value)) this.#map(keyword, value, inside, keywords);
    else keywords.leaveOut(keyword);
  }

  #map(
    keyword: string,
    map: JsonObject,
    inside: (schema: unknown) => Projected,
    keywords: ProjectedKeywords,
  ): void {
    const entries: [string, Projected][] = [];
    const lists: [string, unknown][] = [];
    for (const [name, value] of Object.entries(map)) {
      this.budget.addData(name);
      const isPattern = keyword === 'patternProperties';
      if (!isSendable(name) || (isPattern && !this.#isPattern(name))) keywords.loseName(keyword);
      else if (keyword === 'dependencies' && isNames(value)) lists.push([name, unique(value)]);
      else entries.push([name, inside(value)]);
    }
    keywords.addMap(keyword, entries, lists);
  }

  #target(reference: string, place: Place): Projected {
    const target = this.#resolve(reference, place);
    if (target === undefined)
      return this.#anything('a reference could not be followed and became "anything"');
    const { schema, resource } = target;
    if (place.open.includes(schema)) return this.#anything('recursion was cut');
    this.changes.add("'$ref' was replaced by what it refers to");
    return this.#schema({ schema, resource, depth: place.depth + 1, open: [...place.open, schema] });
  }

  #resolve(reference: string, { schema, resource }: Place): Location | undefined {
    try {
      return this.#resources.resolve('$ref', reference, { schema, resource, path: '' });
    } catch (error) {
      if (error instanceof SchemaError) return undefined;
      throw error;
    }
  }

  /** What a reference leads to, and what stands beside it. */
  #both(target: Projected, own: Projected): Projected {
    const isExact = target.isExact && own.isExact;
    const merged = conjunction(target.schema, own.schema);
    if (merged !== undefined) return { schema: merged, isExact };
    const parts = ownProperty(own.schema, 'allOf');
    return {
      schema: { ...own.schema, allOf: [...(isJsonArray(parts) ? parts : []), target.schema] },
      isExact,
    };
  }

  #withItems({ schema, isExact }: Projected): Projected {
    const type = ownProperty(schema, 'type');
    const isArray = type === 'array' || (isJsonArray(type) && type.includes('array'));
    if (!isArray || Object.hasOwn(schema, 'items')) return { schema, isExact };
    this.changes.add("'items' was added to an array");
    // `items` of anything leaves no item unevaluated
    return { schema: { ...schema, items: {} }, isExact: isExact && !this.#countsItems };
  }

  #isPattern(value: unknown): boolean {
    return typeof value === 'string' && (this.takesAnyPattern || isPortablePattern(value));
  }

  #anything(change: string): Projected {
    this.changes.add(change);
    return { schema: {}, isExact: false };
  }
}

function unique(list: unknown): unknown {
  return isJsonArray(list) ? [...new Set(list)] : list;
}

function uniqueLists(map: unknown): unknown {
  if (!isJsonObject(map)) return map;
  return Object.fromEntries(Object.entries(map).map(([name, list]) => [name, unique(list)]));
}
