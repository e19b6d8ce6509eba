import { JsonBytes } from './json-bytes.js';
import type { Member, MessagePlaces } from './message-places.js';
import type { FindArgumentsReader, ValueReader } from './value-reader.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The places in a message of bytes, which are well-formed JSON then. `undefined` when they are not, are no object, or
 * are nested beyond all use.
 * @param text the same, where each character is one byte
 * @param findReader asked when `args` come after the names of remote and function
 */
export function readBytes(
  bytes: Buffer,
  text: string | undefined,
  findReader: FindArgumentsReader | undefined,
): MessagePlaces | undefined {
  const json = new JsonBytes(bytes);
  const reader = new BytesReader(json, bytes, text, findReader);
  const end = reader.object(json.space(0), 1, reader.members);
  if (end === -1 || json.space(end) !== bytes.length) return undefined;
  const { members, bodyMembers, argsReadBy } = reader;
  return { members, bodyMembers, argsReadBy, depth: json.depth };
}

class BytesReader {
  readonly members: Member[] = [];
  bodyMembers: Member[] = [];
  argsReadBy: ValueReader | undefined;

  constructor(
    private readonly json: JsonBytes,
    private readonly bytes: Buffer,
    private readonly text: string | undefined,
    private readonly findReader: FindArgumentsReader | undefined,
  ) {}

  /** Notes the members of an object. @returns where it ends, or -1 */
  object(start: number, depth: number, members: Member[]): number {
    const { json } = this;
    if (json.byte(start) !== OPEN_BRACE) return -1;
    json.reach(depth);
    let at = json.space(start + 1);
    if (json.byte(at) === CLOSE_BRACE) return at + 1;
    for (;;) {
      const nameEnd = json.string(at);
      if (nameEnd === -1) return -1;
      const valueStart = json.colon(nameEnd);
      if (valueStart === -1) return -1;
      const name = this.#name(at + 1, nameEnd - 1);
      const end = this.#value(name, valueStart, depth);
      if (end === -1) return -1;
      members.push({ name, start: valueStart, end });
      at = json.space(end);
      const next = json.byte(at);
      if (next === CLOSE_BRACE) return at + 1;
      if (next !== COMMA) return -1;
      at = json.space(at + 1);
    }
  }

  /** Of two members `body` the last counts. */
  #value(name: string, start: number, depth: number): number {
    if (depth === 2 && name === 'args') return this.#args(start);
    if (depth > 1 || name !== 'body') return this.json.value(start, depth);
    this.bodyMembers = [];
    this.argsReadBy = undefined;
    return this.json.byte(start) === OPEN_BRACE
      ? this.object(start, depth + 1, this.bodyMembers)
      : this.json.value(start, depth);
  }

  #args(start: number): number {
    const remotename = this.#bodyString('remotename');
    const functionName = this.#bodyString('function');
    if (remotename !== undefined && functionName !== undefined) {
      const reader = this.findReader?.(remotename, functionName);
      const end = reader?.read(this.json, start, 2) ?? -1;
      this.argsReadBy = end === -1 ? undefined : reader;
      if (end !== -1) return end;
    }
    return this.json.value(start, 2);
  }

  /** A string among what was read of the body. */
  #bodyString(wanted: string): string | undefined {
    const member = this.bodyMembers.find(({ name }) => name === wanted);
    if (member === undefined || this.json.byte(member.start) !== QUOTE) return undefined;
    return this.#name(member.start + 1, member.end - 1);
  }

  /** What stands between the quotes of a name. */
  #name(start: number, end: number): string {
    const raw = this.text?.slice(start, end) ?? this.bytes.toString('utf8', start, end);
    return raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
  }
}
