import { isJsonArray, isJsonObject, ownProperty, type JsonObject } from '../../json/json-values.js';

/** Deepest nesting of a projected schema, references followed; what lies deeper becomes "anything". */
const MAX_DEPTH = 24;

/** Most schemas in one projected schema. */
const MAX_SCHEMAS = 4_000;

/** Longest text of a rule that moves into the description. */
const MAX_RULE_LENGTH = 600;

/** Keywords that providers refuse at the top of a tool's parameters. */
const topLevelRules = ['oneOf', 'anyOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else'] as const;

const dropped: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveRef',
  '$recursiveAnchor',
  '$ref',
  '$defs',
  'definitions',
  '$comment',
  '$vocabulary',
]);
const schemaKeywords: ReadonlySet<string> = new Set([
  'items',
  'additionalItems',
  'contains',
  'additionalProperties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
  'not',
  'if',
  'then',
  'else',
  'contentSchema',
]);
const schemaLists: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const schemaMaps: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas']);

/** A schema that providers take, with what had to change; or why there is none. */
export type Projection =
  | { readonly schema: JsonObject; readonly rule: string; readonly changes: readonly string[] }
  | { readonly refused: string };

/**
 * A tool's parameters as OpenAI and Anthropic take them: an object with `type` and `properties`, no union at the
 * top (the rule comes back as text for the description), no references, arrays with `items`. The given schema is
 * not changed. What a provider cannot express gets weaker, never stronger: the hub checks every call anyway.
 */
export function projectParameters(parameters: unknown): Projection {
  if (!isJsonObject(parameters)) return { refused: 'the parameters are no JSON Schema object' };
  const projector = new Projector(parameters);
  try {
    return projector.project();
  } catch (error) {
    if (error instanceof TooLarge) return { refused: `the parameters hold more than ${MAX_SCHEMAS} schemas` };
    throw error;
  }
}

class TooLarge extends Error {}

class Projector {
  readonly #changes = new Set<string>();
  #schemas = 0;

  constructor(private readonly root: JsonObject) {}

  project(): Projection {
    const whole = this.#schema(this.root, 0, []);
    const moved = topLevelRules.filter((keyword) => Object.hasOwn(whole, keyword));
    const rules = moved.map((keyword) =>
      JSON.stringify({ [keyword]: whole[keyword] }).slice(0, MAX_RULE_LENGTH),
    );
    const kept = Object.fromEntries(Object.entries(whole).filter(([keyword]) => !isTopLevelRule(keyword)));
    for (const keyword of moved) this.#changes.add(`'${keyword}' at the top moved into the description`);
    const properties = { ...branchProperties(whole), ...objectOf(ownProperty(kept, 'properties')) };
    const rule = rules.length === 0 ? '' : `The arguments must also satisfy: ${rules.join(' ')}`;
    return { schema: { ...kept, type: 'object', properties }, rule, changes: [...this.#changes] };
  }

  /** @param open references being followed, outermost first */
  #schema(schema: unknown, depth: number, open: readonly string[]): Record<string, unknown> {
    this.#schemas += 1;
    if (this.#schemas > MAX_SCHEMAS) throw new TooLarge();
    if (schema === false) return { not: {} };
    if (!isJsonObject(schema)) return {};
    if (depth > MAX_DEPTH) return this.#changed('what is nested too deeply became "anything"');
    const reference = ownProperty(schema, '$ref');
    const target = typeof reference === 'string' ? this.#target(reference, depth, open) : {};
    return this.#withItems({ ...target, ...this.#keywords(schema, depth, open) });
  }

  #keywords(schema: JsonObject, depth: number, open: readonly string[]): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    for (const [keyword, value] of Object.entries(schema)) {
      if (dropped.has(keyword)) continue;
      if (schemaLists.has(keyword) && isJsonArray(value)) {
        entries.push([keyword, value.map((branch) => this.#schema(branch, depth + 1, open))]);
      } else if (schemaMaps.has(keyword) && isJsonObject(value)) {
        const branches = Object.entries(value).map(([name, branch]) => [
          name,
          this.#schema(branch, depth + 1, open),
        ]);
        entries.push([keyword, Object.fromEntries(branches)]);
      } else if (keyword === 'items' && isJsonArray(value)) {
        this.#changes.add("a list of 'items' became 'anything'");
        entries.push([keyword, {}]);
      } else if (schemaKeywords.has(keyword) && typeof value !== 'boolean') {
        entries.push([keyword, this.#schema(value, depth + 1, open)]);
      } else entries.push([keyword, value]);
    }
    return Object.fromEntries(entries);
  }

  #withItems(schema: Record<string, unknown>): Record<string, unknown> {
    const type = ownProperty(schema, 'type');
    const isArray = type === 'array' || (isJsonArray(type) && type.includes('array'));
    if (!isArray || Object.hasOwn(schema, 'items')) return schema;
    this.#changes.add("'items' was added to an array");
    return { ...schema, items: {} };
  }

  #target(reference: string, depth: number, open: readonly string[]): Record<string, unknown> {
    if (open.includes(reference)) return this.#changed('recursion was cut');
    const target = this.#resolve(reference);
    if (target === undefined) return this.#changed('a reference could not be followed and became "anything"');
    this.#changes.add("'$ref' was replaced by what it refers to");
    return this.#schema(target, depth + 1, [...open, reference]);
  }

  /** A JSON Pointer into this schema. */
  #resolve(reference: string): unknown {
    if (reference === '#') return this.root;
    if (!reference.startsWith('#/')) return undefined;
    let found: unknown = this.root;
    for (const part of reference.slice(2).split('/')) {
      const key = decodePart(part);
      if (isJsonArray(found)) found = found[Number(key)];
      else if (isJsonObject(found)) found = ownProperty(found, key);
      else return undefined;
    }
    return found;
  }

  #changed(what: string): Record<string, unknown> {
    this.#changes.add(what);
    return {};
  }
}

function decodePart(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {
    // not percent-encoded, so it is taken as it is
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

function isTopLevelRule(keyword: string): boolean {
  return topLevelRules.some((rule) => rule === keyword);
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Properties that only branches of a union at the top name: the model should know them. */
function branchProperties(schema: JsonObject): JsonObject {
  const found: [string, unknown][] = [];
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    const branches = ownProperty(schema, keyword);
    if (!isJsonArray(branches)) continue;
    for (const branch of branches) {
      if (isJsonObject(branch)) found.push(...Object.entries(objectOf(ownProperty(branch, 'properties'))));
    }
  }
  return Object.fromEntries(found);
}
