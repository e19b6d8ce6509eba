import type { Dialect } from './dialect.js';
import { childPointer } from './json-pointer.js';
import type { JsonObject } from '../json/json-values.js';
import { isJsonArray, isJsonObject, kindOf } from '../json/json-values.js';
import type { SchemaNode } from './node.js';
import type { MeteredPattern } from './pattern-engine.js';
import type { Location } from './resources.js';
import { SchemaError } from './schema-error.js';

/** What a site needs of the compilation that made it. */
export interface Compilation {
  readonly dialect: Dialect;
  /** Prepares the schema at a place inside the one being compiled. */
  compile(location: Location): SchemaNode;
  compilePattern(pattern: string, path: string): MeteredPattern | undefined;
  /** Calls back with the schema that a reference points at, once all places are known. */
  link(
    keyword: string,
    reference: string,
    from: Location,
    use: (target: Location, node: SchemaNode) => void,
  ): void;
}

/**
 * One schema object while it is compiled. It hands out the values of keywords, and refuses those of
 * the wrong kind, so that a keyword's own code meets right ones only. Absent keywords are undefined.
 */
export class Site {
  constructor(
    readonly schema: JsonObject,
    readonly location: Location,
    readonly compilation: Compilation,
  ) {}

  get dialect(): Dialect {
    return this.compilation.dialect;
  }

  has(keyword: string): boolean {
    return Object.hasOwn(this.schema, keyword);
  }

  value(keyword: string): unknown {
    return this.has(keyword) ? this.schema[keyword] : undefined;
  }

  number(keyword: string): number | undefined {
    const value = this.value(keyword);
    if (value === undefined) return undefined;
    return typeof value === 'number' ? value : this.refuse(keyword, 'a number');
  }

  /** A non-negative integer. */
  count(keyword: string): number | undefined {
    const value = this.value(keyword);
    if (value === undefined) return undefined;
    const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 0;
    return isCount ? value : this.refuse(keyword, 'a non-negative integer');
  }

  boolean(keyword: string): boolean | undefined {
    const value = this.value(keyword);
    if (value === undefined) return undefined;
    return typeof value === 'boolean' ? value : this.refuse(keyword, 'a boolean');
  }

  string(keyword: string): string | undefined {
    const value = this.value(keyword);
    if (value === undefined) return undefined;
    return typeof value === 'string' ? value : this.refuse(keyword, 'a string');
  }

  list(keyword: string): readonly unknown[] | undefined {
    const value = this.value(keyword);
    if (value === undefined) return undefined;
    return isJsonArray(value) ? value : this.refuse(keyword, 'an array');
  }

  /** An array of names of properties. */
  names(keyword: string): readonly string[] | undefined {
    const value = this.value(keyword);
    if (value === undefined) return undefined;
    return isNames(value) ? value : this.refuse(keyword, 'an array of strings');
  }

  /** An object; its own entries. */
  entries(keyword: string): readonly (readonly [string, unknown])[] | undefined {
    const value = this.value(keyword);
    if (value === undefined) return undefined;
    return isJsonObject(value) ? Object.entries(value) : this.refuse(keyword, 'an object');
  }

  schemaAt(keyword: string): SchemaNode | undefined {
    const value = this.value(keyword);
    return value === undefined ? undefined : this.compile(value, [keyword]);
  }

  /** A non-empty array of schemas. */
  schemas(keyword: string): readonly SchemaNode[] | undefined {
    const list = this.list(keyword);
    if (list?.length === 0) return this.refuse(keyword, 'a non-empty array of schemas');
    return list?.map((schema, index) => this.compile(schema, [keyword, index]));
  }

  schemaMap(keyword: string): ReadonlyMap<string, SchemaNode> | undefined {
    const entries = this.entries(keyword);
    return entries && new Map(entries.map(([name, schema]) => [name, this.compile(schema, [keyword, name])]));
  }

  compile(schema: unknown, keys: readonly (string | number)[]): SchemaNode {
    return this.compilation.compile({ schema, path: this.path(...keys), resource: this.location.resource });
  }

  path(...keys: readonly (string | number)[]): string {
    return keys.reduce<string>(childPointer, this.location.path);
  }

  /** @throws {SchemaError} always */
  refuse(keyword: string, expected: string): never {
    throw this.refusal([keyword], this.value(keyword), expected);
  }

  /** The refusal of a value inside a keyword's. */
  refusal(keys: readonly [string, ...(string | number)[]], value: unknown, expected: string): SchemaError {
    const received = typeof value === 'number' ? String(value) : kindOf(value);
    return new SchemaError(this.path(...keys), `"${keys[0]}" is ${received}, expected ${expected}`);
  }
}

export function isNames(value: unknown): value is readonly string[] {
  return isJsonArray(value) && value.every((name) => typeof name === 'string');
}
