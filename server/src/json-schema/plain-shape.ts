import { isJsonArray } from '../json/json-values.js';
import type { PlainShape, SchemaNode } from './node.js';
import type { Site } from './site.js';

/** Keywords that a plain shape is made of, and those that ask for nothing. */
const plainKeywords: ReadonlySet<string> = new Set([
  ...['type', 'properties', 'additionalProperties', 'required', 'items'],
  ...['$schema', '$id', '$defs', 'definitions', '$comment', 'title', 'description', 'default', 'examples'],
  ...['deprecated', 'readOnly', 'writeOnly', 'format'],
]);

/** Bits that a number has for names. */
const MAX_REQUIRED = 30;

/** The shape of a schema that asks for nothing else; its keywords have been compiled, so they are right ones. */
export function plainShapeOf(site: Site): PlainShape | undefined {
  if (!Object.keys(site.schema).every((keyword) => plainKeywords.has(keyword))) return undefined;
  const required = new Set(site.names('required'));
  if (required.size > MAX_REQUIRED || isJsonArray(site.value('items'))) return undefined;
  const type = site.value('type');
  return {
    types: type === undefined ? undefined : new Set(isJsonArray(type) ? type : [type]),
    properties: site.schemaMap('properties') ?? new Map<string, SchemaNode>(),
    additional: site.schemaAt('additionalProperties'),
    required: new Map([...required].map((name, index) => [name, 1 << index])),
    items: site.schemaAt('items'),
  };
}
