import type { Dialect, SchemaHolder } from './dialect.js';
import { refHidesSiblings, schemaHolders } from './dialect.js';
import { childPointer, pointerSegments } from './json-pointer.js';
import type { JsonObject } from '../json/json-values.js';
import { isJsonArray, isJsonObject, kindOf, ownProperty } from '../json/json-values.js';
import { quoted } from './messages.js';
import type { SchemaNode } from './node.js';
import type { ScopeEntry } from './run.js';
import { SchemaError } from './schema-error.js';

/** The whole document, or a part of it with an `$id` of its own. */
export class Resource implements ScopeEntry {
  readonly root: Location;
  /** `$anchor` and `$dynamicAnchor` -> where it stands. */
  readonly anchors = new Map<string, Location>();
  readonly dynamicAnchors = new Map<string, Location>();
  /** The prepared schemas of this resource. */
  readonly nodes = new Map<object, SchemaNode>();

  /** @param uri absolute, without a fragment */
  constructor(
    readonly uri: string,
    schema: unknown,
    path: string,
  ) {
    this.root = { schema, path, resource: this };
  }

  dynamicNode(name: string): SchemaNode | undefined {
    const schema = this.dynamicAnchors.get(name)?.schema;
    return typeof schema === 'object' && schema !== null ? this.nodes.get(schema) : undefined;
  }
}

/** A schema inside the document. */
export interface Location {
  readonly schema: unknown;
  /** JSON Pointer from the document's root. */
  readonly path: string;
  readonly resource: Resource;
}

// A document without an absolute $id gets a base that nothing outside can have.
const unnamedBase = 'schema-document:///';

/** Knows every `$id` and anchor of one document. It never looks anywhere else. */
export class Resources {
  readonly root: Location;
  /** Whether any schema uses `$dynamicRef`, so that a run must keep its dynamic scope. */
  usesDynamicRef = false;
  readonly #byUri = new Map<string, Resource>();
  readonly #byRoot = new Map<object, Resource>();

  constructor(
    document: unknown,
    private readonly dialect: Dialect,
    private readonly maxReferenceLength: number,
  ) {
    const resource = new Resource(unnamedBase, document, '');
    this.#byUri.set(unnamedBase, resource);
    this.root = this.#index(resource.root);
  }

  /** The resource that starts at this schema, if one does. */
  startingAt(schema: object): Resource | undefined {
    return this.#byRoot.get(schema);
  }

  /**
   * What a reference in `from` points at.
   * @throws {SchemaError} when that is not a place in this document
   */
  resolve(keyword: string, reference: string, from: Location): Location {
    const path = childPointer(from.path, keyword);
    if (reference.length > this.maxReferenceLength) throw new SchemaError(path, `"${keyword}" is too long`);
    const hash = reference.indexOf('#');
    const address = hash < 0 ? reference : reference.slice(0, hash);
    const fragment = hash < 0 ? '' : decodedFragment(reference.slice(hash + 1));
    const resource = address === '' ? from.resource : this.#named(address, from.resource.uri);
    if (resource === undefined) {
      throw new SchemaError(path, `"${keyword}" points outside this schema: ${quoted(reference)}`);
    }
    const target = fragment === undefined ? undefined : this.#inside(resource, fragment);
    if (target === undefined) {
      throw new SchemaError(path, `"${keyword}" points at nothing in this schema: ${quoted(reference)}`);
    }
    return target;
  }

  #named(address: string, base: string): Resource | undefined {
    const uri = absoluteUri(address, base);
    return uri === undefined ? undefined : this.#byUri.get(uri);
  }

  #inside(resource: Resource, fragment: string): Location | undefined {
    if (fragment === '') return resource.root;
    return fragment.startsWith('/') ? this.#follow(resource, fragment) : resource.anchors.get(fragment);
  }

  #follow(start: Resource, pointer: string): Location | undefined {
    let { schema, path, resource } = start.root;
    for (const segment of pointerSegments(pointer)) {
      if (isJsonArray(schema))
        schema = /^(?:0|[1-9]\d*)$/.test(segment) ? schema[Number(segment)] : undefined;
      else if (isJsonObject(schema)) schema = ownProperty(schema, segment);
      else return undefined;
      path = childPointer(path, segment);
      if (isJsonObject(schema)) resource = this.#byRoot.get(schema) ?? resource;
    }
    return isJsonObject(schema) || typeof schema === 'boolean' ? { schema, path, resource } : undefined;
  }

  /** Notes the names of a schema and of all schemas inside it; the depth is bounded by `checkSize`. */
  #index(location: Location): Location {
    const { schema, path } = location;
    if (!isJsonObject(schema)) return location;
    const hidden = refHidesSiblings(schema, this.dialect);
    const here = hidden ? location : this.#identified(schema, location);
    if (!hidden && this.dialect === '2020-12') this.#noteAnchors(schema, here);
    for (const keyword of Object.keys(schema)) {
      const holder = schemaHolders(this.dialect).get(keyword);
      if (holder === undefined) continue;
      const inner = { schema: schema[keyword], path: childPointer(path, keyword), resource: here.resource };
      for (const part of heldSchemas(inner, holder)) this.#index(part);
    }
    return here;
  }

  #identified(schema: JsonObject, location: Location): Location {
    if (!Object.hasOwn(schema, '$id')) return location;
    const path = childPointer(location.path, '$id');
    const id = this.#text(schema['$id'], path, '$id');
    const hash = id.indexOf('#');
    const address = hash < 0 ? id : id.slice(0, hash);
    const resource = address === '' ? location.resource : this.#declared(address, location, path);
    const here = { ...location, resource };
    // Draft-07 spells an anchor as an $id that is a fragment.
    const name = hash < 0 || this.dialect !== 'draft-07' ? '' : id.slice(hash + 1);
    if (name !== '') this.#declareAnchor(resource.anchors, name, here, path);
    return here;
  }

  #declared(address: string, location: Location, path: string): Resource {
    const uri = absoluteUri(address, location.resource.uri);
    if (uri === undefined) throw new SchemaError(path, '"$id" is not a URI reference');
    const known = this.#byUri.get(uri);
    if (known !== undefined && known.root.schema === location.schema) return known;
    if (known !== undefined) throw new SchemaError(path, `"$id" names two schemas: ${quoted(address)}`);
    const resource = new Resource(uri, location.schema, location.path);
    this.#byUri.set(uri, resource);
    if (isJsonObject(location.schema)) this.#byRoot.set(location.schema, resource);
    return resource;
  }

  #noteAnchors(schema: JsonObject, here: Location): void {
    if (Object.hasOwn(schema, '$dynamicRef')) this.usesDynamicRef = true;
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      if (!Object.hasOwn(schema, keyword)) continue;
      const path = childPointer(here.path, keyword);
      const name = this.#text(schema[keyword], path, keyword);
      this.#declareAnchor(here.resource.anchors, name, here, path);
      if (keyword === '$dynamicAnchor') here.resource.dynamicAnchors.set(name, here);
    }
  }

  #declareAnchor(anchors: Map<string, Location>, name: string, here: Location, path: string): void {
    const known = anchors.get(name);
    if (known !== undefined && known.schema !== here.schema) {
      throw new SchemaError(path, `two schemas are named ${quoted(name)}`);
    }
    anchors.set(name, here);
  }

  #text(value: unknown, path: string, keyword: string): string {
    if (typeof value !== 'string') {
      throw new SchemaError(path, `"${keyword}" is ${kindOf(value)}, expected a string`);
    }
    if (value.length > this.maxReferenceLength) throw new SchemaError(path, `"${keyword}" is too long`);
    return value;
  }
}

/** The schemas that a keyword's value holds; values of the wrong kind are refused later, where they are compiled. */
function heldSchemas(held: Location, holder: SchemaHolder): Location[] {
  const { schema, path, resource } = held;
  if (isJsonArray(schema)) {
    if (holder !== 'schemas' && holder !== 'schema or schemas') return [];
    return schema.map((part, index) => ({ schema: part, path: childPointer(path, index), resource }));
  }
  if (holder === 'schemas' || !isJsonObject(schema)) return [];
  if (holder === 'schema' || holder === 'schema or schemas') return [held];
  return Object.entries(schema).map(([name, part]) => ({
    schema: part,
    path: childPointer(path, name),
    resource,
  }));
}

/** `address` has no fragment, and neither has the answer. */
function absoluteUri(address: string, base: string): string | undefined {
  try {
    return new URL(address, base).href;
  } catch {
    return undefined;
  }
}

function decodedFragment(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined; // a stray % is no fragment of anything here
  }
}
