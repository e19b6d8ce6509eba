import type { JsonBytes } from '../json/json-bytes.js';
import type { ValueReader } from '../json/value-reader.js';
import type { SchemaLimits } from './limits.js';
import { evaluate, type PlainShape, type SchemaNode } from './node.js';
import { Run, TooComplexError } from './run.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Digits of an integer that no reader of JSON takes for another number. */
const MAX_DIGITS = 15;

const simpleKinds: ReadonlyMap<number, string> = new Map([
  [QUOTE, 'string'],
  [OPEN_BRACKET, 'array'],
  [OPEN_BRACE, 'object'],
  [0x74, 'boolean'],
  [0x66, 'boolean'],
  [0x6e, 'null'],
]);

/**
 * Checks a JSON text against a schema as it reads it: what is only passed on need not become a value for it. It says yes
 * only to what the schema takes; what it does not vouch for, the schema's own `validate` judges. Parts of a schema that are no
 * {@link PlainShape} get values of their parts of the text.
 */
export class BytesCheck implements ValueReader {
  constructor(
    private readonly root: SchemaNode,
    private readonly limits: SchemaLimits,
  ) {}

  read(json: JsonBytes, start: number, outerDepth: number): number {
    try {
      return new Reading(json, new Run(this.limits, undefined)).value(this.root, start, outerDepth);
    } catch (error) {
      if (error instanceof TooComplexError || error instanceof SyntaxError) return -1;
      throw error;
    }
  }
}

/** Like those of {@link JsonBytes}, every method gives the place after what it read, or -1. */
class Reading {
  constructor(
    private readonly json: JsonBytes,
    private readonly run: Run,
  ) {}

  value(node: SchemaNode, start: number, outerDepth: number): number {
    const { json } = this;
    const { plain } = node;
    if (plain === undefined) return this.#parsed(node, start, outerDepth);
    const first = json.byte(start);
    const kind = simpleKinds.get(first) ?? 'number';
    if (kind === 'number') return this.#number(plain, start, outerDepth);
    if (plain.types?.has(kind) === false) return -1;
    if (first === OPEN_BRACE && asksForMembers(plain)) return this.#object(plain, start, outerDepth + 1);
    if (first === OPEN_BRACKET && plain.items !== undefined)
      return this.#array(plain.items, start, outerDepth + 1);
    return json.value(start, outerDepth);
  }

  #number({ types }: PlainShape, start: number, outerDepth: number): number {
    const end = this.json.value(start, outerDepth);
    if (end === -1 || types === undefined || types.has('number')) return end;
    const isInteger = end - start <= MAX_DIGITS && /^-?\d+$/u.test(this.json.text(start, end));
    return types.has('integer') && isInteger ? end : -1;
  }

  /** Of two members with one name only the last counts; here both must fit. */
  #object(plain: PlainShape, start: number, depth: number): number {
    const { json } = this;
    const { properties, additional, required } = plain;
    json.reach(depth);
    let missing = (1 << required.size) - 1;
    let at = json.space(start + 1);
    if (json.byte(at) === CLOSE_BRACE) return missing === 0 ? at + 1 : -1;
    for (;;) {
      const nameEnd = json.string(at);
      if (nameEnd === -1) return -1;
      const name = json.text(at + 1, nameEnd - 1);
      if (name.includes('\\')) return -1;
      missing &= ~(required.get(name) ?? 0);
      at = json.colon(nameEnd);
      if (at === -1) return -1;
      const node = properties.get(name) ?? additional;
      at = node === undefined ? json.value(at, depth) : this.value(node, at, depth);
      if (at === -1) return -1;
      at = json.space(at);
      const next = json.byte(at);
      if (next === CLOSE_BRACE) return missing === 0 ? at + 1 : -1;
      if (next !== COMMA) return -1;
      at = json.space(at + 1);
    }
  }

  #array(items: SchemaNode, start: number, depth: number): number {
    const { json } = this;
    json.reach(depth);
    let at = json.space(start + 1);
    if (json.byte(at) === CLOSE_BRACKET) return at + 1;
    for (;;) {
      at = this.value(items, at, depth);
      if (at === -1) return -1;
      at = json.space(at);
      const next = json.byte(at);
      if (next === CLOSE_BRACKET) return at + 1;
      if (next !== COMMA) return -1;
      at = json.space(at + 1);
    }
  }

  #parsed(node: SchemaNode, start: number, outerDepth: number): number {
    const end = this.json.value(start, outerDepth);
    if (end === -1) return -1;
    const value: unknown = JSON.parse(this.json.text(start, end));
    return evaluate(node, value, this.run, undefined) ? end : -1;
  }
}

function asksForMembers({ properties, additional, required }: PlainShape): boolean {
  return properties.size > 0 || additional !== undefined || required.size > 0;
}
