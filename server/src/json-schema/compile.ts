import { refuseEndlessReferences } from './cycles.js';
import { dialectOf, refHidesSiblings, schemaHolders } from './dialect.js';
import type { Dialect } from './dialect.js';
import { isJsonObject, kindOf } from '../json/json-values.js';
import { compileArrayKeywords } from './keywords/arrays.js';
import { compileCombinators } from './keywords/combinators.js';
import { compileConstants } from './keywords/constants.js';
import { compileNumberKeywords } from './keywords/numbers.js';
import { compileObjectKeywords } from './keywords/objects.js';
import { compileProperties } from './keywords/properties.js';
import { compileReferences, scoped } from './keywords/references.js';
import { compileStringKeywords } from './keywords/strings.js';
import { compileType } from './keywords/types.js';
import { compileUnevaluated, needsMarks } from './keywords/unevaluated.js';
import type { SchemaLimits } from './limits.js';
import { SchemaNode } from './node.js';
import type { MeteredPattern } from './pattern-engine.js';
import { Patterns } from './patterns.js';
import { plainShapeOf } from './plain-shape.js';
import type { Location, Resource } from './resources.js';
import { Resources } from './resources.js';
import { SchemaError } from './schema-error.js';
import type { Compilation } from './site.js';
import { Site } from './site.js';

/** Turns one document into nodes. Everything it knows is its own: nothing outlives the compiled schema. */
export class SchemaCompiler implements Compilation {
  readonly dialect: Dialect;
  readonly #resources: Resources;
  readonly #patterns: Patterns;
  readonly #nodes: SchemaNode[] = [];
  #links: (() => void)[] = [];

  /** @throws {SchemaError} */
  constructor(document: unknown, limits: SchemaLimits) {
    this.dialect = dialectOf(document);
    this.#resources = new Resources(document, this.dialect, limits.maxReferenceLength);
    this.#patterns = new Patterns(limits);
  }

  get unenforcedPatterns(): readonly string[] {
    return this.#patterns.unenforced;
  }

  /** The prepared root. @throws {SchemaError} */
  compileDocument(): SchemaNode {
    const root = this.compile(this.#resources.root);
    // A reference may lead to a place that was no schema until now and holds further references.
    for (let links = this.#takeLinks(); links.length > 0; links = this.#takeLinks()) {
      for (const link of links) link();
    }
    refuseEndlessReferences(this.#nodes);
    return root;
  }

  compile(location: Location): SchemaNode {
    const { schema, path } = location;
    if (typeof schema === 'boolean') return this.#compileBoolean(schema, location);
    if (!isJsonObject(schema)) {
      throw new SchemaError(path, `expected a schema (an object or a boolean), received ${kindOf(schema)}`);
    }
    const resource = this.#resources.startingAt(schema) ?? location.resource;
    const known = resource.nodes.get(schema);
    if (known !== undefined) return known;
    const node = this.#newNode(path);
    resource.nodes.set(schema, node);
    const isScope = this.#resources.usesDynamicRef && resource.root.schema === schema;
    const inner = isScope ? this.#scopedInside(node, resource) : node;
    this.#compileObject(new Site(schema, { schema, path, resource }, this), inner);
    return node;
  }

  compilePattern(pattern: string, path: string): MeteredPattern | undefined {
    return this.#patterns.compile(pattern, path);
  }

  link(
    keyword: string,
    reference: string,
    from: Location,
    use: (target: Location, node: SchemaNode) => void,
  ): void {
    this.#links.push(() => {
      const target = this.#resources.resolve(keyword, reference, from);
      use(target, this.compile(target));
    });
  }

  #takeLinks(): (() => void)[] {
    const links = this.#links;
    this.#links = [];
    return links;
  }

  #newNode(path: string): SchemaNode {
    const node = new SchemaNode(path);
    this.#nodes.push(node);
    return node;
  }

  #compileBoolean(allowed: boolean, location: Location): SchemaNode {
    const node = new SchemaNode(location.path);
    if (!allowed) node.addFirst((value, run) => run.fail('false', () => 'no value is allowed here', value));
    return node;
  }

  /** A node that `outer` applies with its resource in the dynamic scope. */
  #scopedInside(outer: SchemaNode, resource: Resource): SchemaNode {
    const inner = this.#newNode(outer.path);
    outer.inPlace.push(inner);
    outer.addLast(scoped(resource, inner));
    return inner;
  }

  #compileObject(site: Site, node: SchemaNode): void {
    if (refHidesSiblings(site.schema, this.dialect)) {
      compileReferences(site, node);
      return;
    }
    this.#compileDefinitions(site);
    if (!needsMarks(site)) {
      compileKeywords(site, node);
      node.plain = plainShapeOf(site);
      return;
    }
    const inner = this.#newNode(site.location.path);
    compileKeywords(site, inner);
    compileUnevaluated(site, node, inner);
  }

  /** Definitions are refused like other schemas when they are wrong, whether or not they are used. */
  #compileDefinitions(site: Site): void {
    for (const keyword of ['$defs', 'definitions']) {
      if (schemaHolders(this.dialect).has(keyword)) site.schemaMap(keyword);
    }
  }
}

/** Compiles one family of keywords into the node, in the order in which the families stand here. */
type CompileFamily = (site: Site, node: SchemaNode) => void;

const families: readonly (readonly [CompileFamily, string])[] = [
  [compileType, 'type'],
  [compileConstants, 'const enum'],
  [compileNumberKeywords, 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'],
  [compileStringKeywords, 'minLength maxLength pattern'],
  [
    compileArrayKeywords,
    'items additionalItems prefixItems minItems maxItems uniqueItems contains minContains maxContains',
  ],
  // Before `required`: a wrong constant says more of a union's branch than a missing property.
  [compileProperties, 'properties patternProperties additionalProperties'],
  [
    compileObjectKeywords,
    'required minProperties maxProperties dependentRequired dependencies propertyNames',
  ],
  [compileReferences, '$ref $dynamicRef'],
  [compileCombinators, 'allOf anyOf oneOf not if then else dependentSchemas dependencies'],
];

const familyBits = familiesByKeyword();

/** Keyword -> a bit for each family that reads it. */
function familiesByKeyword(): ReadonlyMap<string, number> {
  const bits = new Map<string, number>();
  for (const [index, [, keywords]] of families.entries()) {
    for (const keyword of keywords.split(' ')) bits.set(keyword, (bits.get(keyword) ?? 0) | (1 << index));
  }
  return bits;
}

function compileKeywords(site: Site, node: SchemaNode): void {
  let present = 0;
  for (const keyword of Object.keys(site.schema)) present |= familyBits.get(keyword) ?? 0;
  for (const [index, [compileFamily]] of families.entries()) {
    if ((present & (1 << index)) !== 0) compileFamily(site, node);
  }
}
