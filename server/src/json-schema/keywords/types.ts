import { isInteger, isJsonArray, isJsonObject } from '../../json/json-values.js';
import type { Check, SchemaNode } from '../node.js';
import { eitherOf } from '../messages.js';
import type { Site } from '../site.js';

const tests: ReadonlyMap<unknown, (value: unknown) => boolean> = new Map([
  ['string', (value: unknown) => typeof value === 'string'],
  ['number', (value: unknown) => typeof value === 'number'],
  ['integer', isInteger],
  ['boolean', (value: unknown) => typeof value === 'boolean'],
  ['object', isJsonObject],
  ['array', isJsonArray],
  ['null', (value: unknown) => value === null],
]);

const expectedType = eitherOf([...tests.keys()].map((name) => `"${String(name)}"`));

/** `type`: one name or a list of names. */
export function compileType(site: Site, node: SchemaNode): void {
  const type = site.value('type');
  if (type === undefined) return;
  if (!isJsonArray(type)) node.addFirst(typeCheck([typeName(site, type, ['type'])]));
  else if (type.length === 0) site.refuse('type', 'a non-empty array of types');
  else node.addFirst(typeCheck(type.map((name, index) => typeName(site, name, ['type', index]))));
}

function typeName(site: Site, name: unknown, keys: readonly [string, ...number[]]): string {
  if (typeof name === 'string' && tests.has(name)) return name;
  throw site.refusal(keys, name, expectedType);
}

function typeCheck(names: readonly string[]): Check<unknown> {
  const wanted = names.flatMap((name) => tests.get(name) ?? []);
  const [only] = wanted;
  if (only !== undefined && wanted.length === 1) {
    return (value, run) => only(value) || run.failType(names, value);
  }
  return (value, run) => wanted.some((test) => test(value)) || run.failType(names, value);
}
