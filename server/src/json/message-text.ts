import type { JsonValue } from '@remotes-hub/protocol';
import { JsonText } from './json-text.js';

/** Where a member's value stands in the text. */
interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

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
    private readonly members: readonly Member[],
    private readonly bodyMembers: readonly Member[],
    /** Deepest nesting; the message itself counts 1. */
    readonly depth: number,
  ) {}

  /** The places in a message, or `undefined` when it is not an object or breaks off. */
  static scan(text: string): MessageText | undefined {
    const scanner = new Scanner(text);
    const message = scanner.message();
    return message && new MessageText(text, message.members, message.bodyMembers, scanner.depth);
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
    const member = members.findLast((candidate) => candidate.name === name);
    return member && new JsonText(this.text.slice(member.start, member.end));
  }
}

class Scanner {
  depth = 0;
  #at = 0;

  constructor(private readonly text: string) {}

  message(): { members: Member[]; bodyMembers: readonly Member[] } | undefined {
    this.#skipSpace();
    const members: Member[] = [];
    let bodyMembers: readonly Member[] = [];
    const isWhole = this.#object(1, (name) => {
      const start = this.#at;
      if (name === 'body' && this.text.charCodeAt(start) === OPEN_BRACE) {
        const found: Member[] = [];
        if (!this.#object(2, (inner) => this.#collect(inner, found, 2))) return false;
        bodyMembers = found;
      } else {
        if (!this.#skipValue(1)) return false;
        if (name === 'body') bodyMembers = [];
      }
      members.push({ name, start, end: this.#at });
      return true;
    });
    return isWhole ? { members, bodyMembers } : undefined;
  }

  #collect(name: string, members: Member[], depth: number): boolean {
    const start = this.#at;
    if (!this.#skipValue(depth)) return false;
    members.push({ name, start, end: this.#at });
    return true;
  }

  /** Walks over an object, calling `member` at the start of each value; it moves to the value's end. */
  #object(depth: number, member: (name: string) => boolean): boolean {
    if (this.text.charCodeAt(this.#at) !== OPEN_BRACE) return false;
    this.#reach(depth);
    this.#at += 1;
    this.#skipSpace();
    if (this.text.charCodeAt(this.#at) === CLOSE_BRACE) return this.#step();
    for (;;) {
      const name = this.#name();
      if (name === undefined || !member(name)) return false;
      this.#skipSpace();
      const next = this.text.charCodeAt(this.#at);
      if (next === CLOSE_BRACE) return this.#step();
      if (next !== COMMA) return false;
      this.#at += 1;
      this.#skipSpace();
    }
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
    const raw = this.text.slice(start, this.#at);
    this.#skipSpace();
    if (this.text.charCodeAt(this.#at) !== COLON) return undefined;
    this.#at += 1;
    this.#skipSpace();
    return raw.includes('\\') ? unescape(raw) : raw.slice(1, -1);
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
function unescape(raw: string): string {
  try {
    return String(JSON.parse(raw));
  } catch {
    return raw;
  }
}
