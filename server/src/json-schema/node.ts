import type { JsonObject } from '../json/json-values.js';
import { isJsonArray, isJsonObject } from '../json/json-values.js';
import type { Marks } from './marks.js';
import type { Evaluable, Run } from './run.js';

/** One prepared keyword. `marks` collects what was evaluated when an `unevaluated…` keyword asks for it. */
export type Check<T> = (value: T, run: Run, marks: Marks | undefined) => boolean;

/** What most schemas are made of: types, properties, items. JSON text can be checked against it as it is read. */
export interface PlainShape {
  /** Any when `undefined`. */
  readonly types: ReadonlySet<unknown> | undefined;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  readonly additional: SchemaNode | undefined;
  /** A bit for each name that must be there. */
  readonly required: ReadonlyMap<string, number>;
  readonly items: SchemaNode | undefined;
}

/** A schema prepared for use: its checks in the order in which they run. */
export class SchemaNode implements Evaluable {
  /** `type`, `const`, `enum`: for every kind of value, before the others. */
  first: readonly Check<unknown>[] = [];
  forNumbers: readonly Check<number>[] = [];
  forStrings: readonly Check<string>[] = [];
  forArrays: readonly Check<readonly unknown[]>[] = [];
  forObjects: readonly Check<JsonObject>[] = [];
  /** Schemas applied to the same value. */
  last: readonly Check<unknown>[] = [];
  /** All that it asks for, where that is no more. */
  plain: PlainShape | undefined;
  /** Nodes applied to the same value: a cycle of these would never end. */
  readonly inPlace: SchemaNode[] = [];

  /** @param path JSON Pointer into the document, for refusals */
  constructor(readonly path: string) {}

  evaluate(value: unknown, run: Run, marks: Marks | undefined): boolean {
    return evaluate(this, value, run, marks);
  }

  addFirst(check: Check<unknown>): void {
    this.first = appended(this.first, check);
  }

  addForNumbers(check: Check<number>): void {
    this.forNumbers = appended(this.forNumbers, check);
  }

  addForStrings(check: Check<string>): void {
    this.forStrings = appended(this.forStrings, check);
  }

  addForArrays(check: Check<readonly unknown[]>): void {
    this.forArrays = appended(this.forArrays, check);
  }

  addForObjects(check: Check<JsonObject>): void {
    this.forObjects = appended(this.forObjects, check);
  }

  addLast(check: Check<unknown>): void {
    this.last = appended(this.last, check);
  }

  /** References are linked after the other keywords, but run before them. */
  addReference(check: Check<unknown>): void {
    this.last = [check, ...this.last];
  }
}

// A list of one is by far the most common; `push` would reserve room for sixteen more.
function appended<T>(list: readonly T[], item: T): readonly T[] {
  return list.length === 0 ? [item] : [...list, item];
}

/** Whether the value fits the schema. @throws {TooComplexError} */
export function evaluate(node: SchemaNode, value: unknown, run: Run, marks: Marks | undefined): boolean {
  run.enter(3);
  const fits =
    passes(node.first, value, run, marks) &&
    passesByKind(node, value, run, marks) &&
    passes(node.last, value, run, marks);
  run.leave();
  return fits;
}

function passesByKind(node: SchemaNode, value: unknown, run: Run, marks: Marks | undefined): boolean {
  if (typeof value === 'string') return passes(node.forStrings, value, run, marks);
  if (typeof value === 'number') return passes(node.forNumbers, value, run, marks);
  if (isJsonArray(value)) return passes(node.forArrays, value, run, marks);
  return !isJsonObject(value) || passes(node.forObjects, value, run, marks);
}

function passes<T>(checks: readonly Check<T>[], value: T, run: Run, marks: Marks | undefined): boolean {
  for (const check of checks) {
    if (!check(value, run, marks)) return false;
  }
  return true;
}
