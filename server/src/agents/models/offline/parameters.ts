import { isJsonArray, isJsonObject, ownProperty } from '../../../json/json-values.js';
import { plainWords, stem } from './words.js';

/** Most parameters of one tool that are looked at. */
const MAX_PARAMETERS = 64;

/** What a text parameter seems to hold. */
export type TextKind =
  'plain' | 'place' | 'topic' | 'origin' | 'target' | 'date' | 'email' | 'url' | 'zone' | 'path';

/** One parameter of a tool, as far as a matcher of words needs it. */
export interface Parameter {
  readonly name: string;
  /** Stems of its name by which an instruction may point at it. */
  readonly stems: ReadonlySet<string>;
  readonly isRequired: boolean;
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'other';
  readonly textKind: TextKind;
  readonly format: string;
  /** The values it may have, when they are listed; a constant is a list of one. */
  readonly values: readonly unknown[] | undefined;
  readonly minimum: number;
  readonly maximum: number;
  /** What an array holds. */
  readonly items: Parameter | undefined;
}

/** The parameters of a JSON Schema: its own `properties`, and what it requires beside them. */
export function readParameters(schema: unknown): Parameter[] {
  if (!isJsonObject(schema)) return [];
  const properties = ownProperty(schema, 'properties');
  const listed = ownProperty(schema, 'required');
  const required = new Set(isJsonArray(listed) ? listed.filter((name) => typeof name === 'string') : []);
  const known = isJsonObject(properties) ? properties : {};
  const read = new Set([...required, ...Object.keys(known)].slice(0, MAX_PARAMETERS));
  const inOrder = new Set([...Object.keys(known), ...required].filter((name) => read.has(name)));
  return [...inOrder].map((name) => readParameter(name, ownProperty(known, name), required.has(name)));
}

function readParameter(name: string, given: unknown, isRequired: boolean): Parameter {
  const schema = isJsonObject(given) ? given : {};
  const words = plainWords(name);
  const field = (key: string): unknown => ownProperty(schema, key);
  const format = field('format');
  const items = field('items');
  const textFormat = typeof format === 'string' ? format : '';
  return {
    name,
    stems: pointingStems(words),
    isRequired,
    type: readType(schema),
    format: textFormat,
    textKind: textKindOf(words, textFormat),
    values: readValues(schema),
    minimum: asNumber(field('minimum'), -Infinity),
    maximum: asNumber(field('maximum'), Infinity),
    items: isJsonObject(items) ? readParameter(name, { ...items, items: undefined }, false) : undefined,
  };
}

function readType(schema: Readonly<Record<string, unknown>>): Parameter['type'] {
  const given = ownProperty(schema, 'type');
  const types = isJsonArray(given) ? given : [given];
  for (const type of types) {
    if (type === 'string' || type === 'number' || type === 'integer') return type;
    if (type === 'boolean' || type === 'array') return type;
  }
  return given === undefined ? 'string' : 'other';
}

function readValues(schema: Readonly<Record<string, unknown>>): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [ownProperty(schema, 'const')];
  const values = ownProperty(schema, 'enum');
  return isJsonArray(values) ? values : undefined;
}

function asNumber(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

/** Words that many names share and that point at nothing. */
const vagueWords: ReadonlySet<string> = new Set([
  'name',
  'id',
  'value',
  'is',
  'has',
  'use',
  'should',
  'with',
  'include',
  'enable',
  'the',
  'of',
  'in',
  'to',
]);

function pointingStems(words: readonly string[]): ReadonlySet<string> {
  const telling = words.filter((word) => !vagueWords.has(word));
  return new Set((telling.length > 0 ? telling : words).map(stem));
}

const kindsByWord: readonly (readonly [TextKind, string])[] = [
  ['zone', 'zone timezone tz'],
  ['email', 'email mail'],
  ['url', 'url uri link website'],
  ['date', 'date day when'],
  ['path', 'path file filename directory folder'],
  ['place', 'city location place country region town where address area state'],
  ['origin', 'from source origin departure sender'],
  ['target', 'to target destination recipient receiver language lang arrival'],
  ['topic', 'query search q text topic subject keyword keywords term question phrase'],
];

function textKindOf(words: readonly string[], format: string): TextKind {
  if (format === 'date' || format === 'date-time') return 'date';
  if (format === 'email') return 'email';
  if (format === 'uri' || format === 'url') return 'url';
  const found = kindsByWord.find(([, list]) => list.split(' ').some((word) => words.includes(word)));
  return found?.[0] ?? 'plain';
}
