import type { Member, MessagePlaces } from './message-places.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The places in a message of text, at any depth: follows brackets and strings only, so that the text may still be no
 * JSON. `undefined` when it is no object, breaks off, or goes on after its end.
 */
export function scanText(text: string): MessagePlaces | undefined {
  const scanner = new Scanner(text);
  return scanner.message() ? scanner : undefined;
}

class Scanner implements MessagePlaces {
  depth = 0;
  readonly members: Member[] = [];
  bodyMembers: Member[] = [];
  readonly argsReadBy = undefined;
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
