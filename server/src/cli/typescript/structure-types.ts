import type { Location } from '../../json-schema/resources.js';
import { isJsonArray, isJsonObject, ownProperty } from '../../json/json-values.js';
import { namedParts, partAt, partsIn, type SchemaSite } from './schema-parts.js';
import {
  bracketed,
  neverType,
  simpleType,
  unionOf,
  unknownType,
  type TypeExpression,
} from './type-expression.js';
import { docComment, memberName, stringLiteral } from './type-text.js';

/** A type of members longer than this stands on lines of its own. */
const MAX_LINE_LENGTH = 80;

export const INDENT = '  ';

/** An object of which nothing is said. */
export const anyObjectType: TypeExpression = simpleType('{ [key: string]: unknown }');

/** Writes a schema inside another. @param indent of the lines of what is around it */
export type WritePart = (part: Location, indent: string) => TypeExpression;

/** What the object keywords of a schema say. Properties that are not named may be there unless they are forbidden. */
export function objectType(site: SchemaSite, indent: string, write: WritePart): TypeExpression {
  const inner = indent + INDENT;
  const properties = new Map(namedParts(site, 'properties'));
  const required = requiredNames(site);
  const names = [...new Set([...properties.keys(), ...required])];
  if (names.length === 0) return mapType(site, indent, write);
  const members = names.map((name) => {
    const part = properties.get(name);
    const { text } = part === undefined ? unknownType : write(part, inner);
    const comment = docComment(descriptionOf(part?.schema), inner);
    return { comment, text: `${memberName(name)}${required.has(name) ? '' : '?'}: ${text}` };
  });
  // The compiler wants a type that all the members fit.
  if (isMapToo(site)) members.push({ comment: '', text: '[key: string]: unknown' });
  return simpleType(inBraces(members, indent));
}

/** The `description` of a schema, if it has one. */
export function descriptionOf(schema: unknown): string {
  const text = isJsonObject(schema) ? ownProperty(schema, 'description') : undefined;
  return typeof text === 'string' ? text : '';
}

function requiredNames({ schema }: SchemaSite): ReadonlySet<string> {
  const names = ownProperty(schema, 'required');
  return new Set(isJsonArray(names) ? names.filter((name) => typeof name === 'string') : []);
}

/** Whether properties beyond the named ones are described. */
function isMapToo({ schema }: SchemaSite): boolean {
  const patterns = ownProperty(schema, 'patternProperties');
  const isPatterned = isJsonObject(patterns) && Object.keys(patterns).length > 0;
  return isPatterned || isJsonObject(ownProperty(schema, 'additionalProperties'));
}

/** An object without named properties. */
function mapType(site: SchemaSite, indent: string, write: WritePart): TypeExpression {
  const additional = partAt(site, 'additionalProperties');
  if (additional === undefined) return anyObjectType;
  const parts = [...namedParts(site, 'patternProperties').map(([, part]) => part), additional];
  const { text } = unionOf(parts.map((part) => write(part, indent)));
  return simpleType(`{ [key: string]: ${text} }`);
}

interface Member {
  readonly comment: string;
  readonly text: string;
}

function inBraces(members: readonly Member[], indent: string): string {
  const line = `{ ${members.map(({ text }) => text).join('; ')} }`;
  const isShort = indent.length + line.length <= MAX_LINE_LENGTH && !line.includes('\n');
  if (isShort && members.every(({ comment }) => comment === '')) return line;
  const lines = members.map(({ comment, text }) => `${comment}${indent}${INDENT}${text};\n`);
  return `{\n${lines.join('')}${indent}}`;
}

/**
 * What the array keywords of a schema say: a list, or a tuple of which the last items may be absent.
 * @param write how the items of each are written
 */
export function arrayType(
  site: SchemaSite,
  indent: string,
  write: { readonly inList: WritePart; readonly inTuple: WritePart },
): TypeExpression {
  // A list in `items` is draft-07's spelling of `prefixItems`; the hub understands it in both dialects.
  const listed = partsIn(site, 'items');
  const starts = listed ?? partsIn(site, 'prefixItems') ?? [];
  const rest = partAt(site, listed === undefined ? 'items' : 'additionalItems');
  const writeRest = starts.length === 0 ? write.inList : write.inTuple;
  const restType = rest === undefined ? unknownType : writeRest(rest, indent);
  if (starts.length === 0) return simpleType(restType === neverType ? '[]' : `${bracketed(restType)}[]`);
  const least = ownProperty(site.schema, 'minItems');
  const needed = typeof least === 'number' ? least : 0;
  const items = starts.map((part, index) => {
    const type = write.inTuple(part, indent);
    return index < needed ? type.text : `${bracketed(type)}?`;
  });
  if (restType !== neverType) items.push(`...${bracketed(restType)}[]`);
  return simpleType(`[${items.join(', ')}]`);
}

/** The type of one value alone. */
export function literalType(value: unknown): TypeExpression {
  if (typeof value === 'boolean' || value === null) return simpleType(String(value));
  if (typeof value === 'string') return simpleType(stringLiteral(value));
  if (typeof value === 'number') return simpleType(Number.isFinite(value) ? String(value) : 'number');
  if (isJsonArray(value)) return simpleType(`[${value.map((item) => literalType(item).text).join(', ')}]`);
  if (!isJsonObject(value)) return unknownType;
  const members = Object.entries(value).map(
    ([name, item]) => `${memberName(name)}: ${literalType(item).text}`,
  );
  return simpleType(members.length === 0 ? '{ [key: string]: never }' : `{ ${members.join('; ')} }`);
}
