import type { JsonValue } from '@remotes-hub/protocol';
import { JsonText } from './json-text.js';

/** A member of an object, and where its value stands in the text. */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Values from this length on are passed on as the bytes that they came in. */
const MIN_SPLICED_LENGTH = 4_096;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The text of one message with the places of its members, and of its body's, so that `nonce`, `args`, `result`
 * and `tools` can be passed on as they were written. Scanning is one pass that follows brackets and strings
 * only, at any depth; whether the text is JSON is decided by {@link MessageText.parse}, before any part is used.
 */
export class MessageText {
  private constructor(
    readonly text: string,
    /** In the order they were written; a name may come twice. */
    readonly members: readonly Member[],
    /** Those of `body`, when it is an object. */
    readonly bodyMembers: readonly Member[],
    /** Deepest nesting; the message itself counts 1. */
    readonly depth: number,
    private readonly source: Buffer | undefined,
  ) {}

  /**
   * The places in a message, or `undefined` when it is not an object, breaks off, or goes on after its end.
   * @param source the bytes of the text, valid UTF-8
   */
  static scan(text: string, source?: Buffer): MessageText | undefined {
    const scanner = new Scanner(text);
    if (!scanner.message()) return undefined;
    return new MessageText(text, scanner.members, scanner.bodyMembers, scanner.depth, source);
  }

  /** The whole message as a value. @throws {SyntaxError} when the text is not JSON */
  parse(): JsonValue {
    // oxlint-disable-next-line typescript/no-unsafe-return -- JSON.parse makes JSON values and nothing else
    return JSON.parse(this.text);
  }

  /** The text of a member's value; of two with one name the last, as in `JSON.parse`. */
  member(name: string): JsonText | undefined {
    return this.#find(this.members, name);
  }

  /** The same, of a member of `body`. */
  bodyMember(name: string): JsonText | undefined {
    return this.#find(this.bodyMembers, name);
  }

  /** Every member as it was written, in that order. */
  entries(): readonly (readonly [string, JsonText])[] {
    return this.members.map(({ name, start, end }) => [name, new JsonText(this.text.slice(start, end))]);
  }

  #find(members: readonly Member[], name: string): JsonText | undefined {
    for (let index = members.length - 1; index >= 0; index -= 1) {
      const member = members[index];
      if (member?.name === name) return this.#value(member);
    }
    return undefined;
  }

  #value({ start, end }: Member): JsonText {
    const { text, source } = this;
    const value = text.slice(start, end);
    if (source === undefined || value.length < MIN_SPLICED_LENGTH) return new JsonText(value);
    // what stands around a long value is short
    const from = Buffer.byteLength(text.slice(0, start));
    const to = source.length - Buffer.byteLength(text.slice(end));
    return new JsonText(value, source.subarray(from, to));
  }
}

class Scanner {
  depth = 0;
  readonly members: Member[] = [];
  bodyMembers: Member[] = [];
  #at = 0;

  constructor(private readonly text: string) {}

  message(): boolean {
    this.#skipSpace();
    if (!this.#object(1, this.members, true)) return false;
    this.#skipSpace();
    return this.#at === this.text.length;
  }

  /** Walks over an object and notes its members. */
  #object(depth: number, members: Member[], isMessage: boolean): boolean {
    if (this.text.charCodeAt(this.#at) !== OPEN_BRACE) return false;
    this.#reach(depth);
    this.#at += 1;
    this.#skipSpace();
    if (this.text.charCodeAt(this.#at) === CLOSE_BRACE) return this.#step();
    for (;;) {
      const name = this.#name();
      if (name === undefined) return false;
      const start = this.#at;
      const isBody = isMessage && name === 'body';
      if (!(isBody ? this.#body() : this.#skipValue(depth))) return false;
      members.push({ name, start, end: this.#at });
      this.#skipSpace();
      const next = this.text.charCodeAt(this.#at);
      if (next === CLOSE_BRACE) return this.#step();
      if (next !== COMMA) return false;
      this.#at += 1;
      this.#skipSpace();
    }
  }

  /** The value of a member `body`; of two the last counts. */
  #body(): boolean {
    this.bodyMembers = [];
    if (this.text.charCodeAt(this.#at) !== OPEN_BRACE) return this.#skipValue(1);
    return this.#object(2, this.bodyMembers, false);
  }

  #step(): true {
    this.#at += 1;
    return true;
  }

  #reach(depth: number): void {
    if (depth > this.depth) this.depth = depth;
  }

  #name(): string | undefined {
    const start = this.#at;
    if (this.text.charCodeAt(start) !== QUOTE) return undefined;
    if (!this.#skipString()) return undefined;
    const name = this.text.slice(start + 1, this.#at - 1);
    this.#skipSpace();
    if (this.text.charCodeAt(this.#at) !== COLON) return undefined;
    this.#at += 1;
    this.#skipSpace();
    return name.includes('\\') ? unescape(name) : name;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }

  /** From an opening quote to after the closing one. */
  #skipString(): boolean {
    let end = this.#at;
    for (;;) {
      end = this.text.indexOf('"', end + 1);
      if (end === -1) return false;
      let slashes = 0;
      while (this.text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
      if (slashes % 2 === 0) break;
    }
    this.#at = end + 1;
    return true;
  }

  /** From the start of a value to its end, however deep it is. */
  #skipValue(outerDepth: number): boolean {
    const start = this.#at;
    let open = 0;
    while (this.#at < this.text.length) {
      const code = this.text.charCodeAt(this.#at);
      if (code === QUOTE) {
        if (!this.#skipString()) return false;
        if (open === 0) return true;
        continue;
      }
      if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        open += 1;
        this.#reach(outerDepth + open);
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        if (open === 0) return this.#at > start;
        open -= 1;
        if (open === 0) return this.#step();
      } else if (open === 0 && (code === COMMA || code <= 0x20)) {
        return this.#at > start;
      }
      this.#at += 1;
    }
    return false;
  }
}

/** A name written with escapes; text that is no JSON string is taken as it is, {@link MessageText.parse} refuses it. */
function unescape(name: string): string {
  try {
    return String(JSON.parse(`"${name}"`));
  } catch {
    return name;
  }
}
