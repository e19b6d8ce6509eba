/** Nesting up to which bytes are read; deeper ones are left to slower readers, who say what is wrong with them. */
const MAX_DEPTH = 1_024;

/** From this many bytes on a string is read in strides of four. */
const LONG_STRING = 64;

const END = 0;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const LOWER_E = 0x65;
const LOWER_U = 0x75;
const OPEN_BRACE = 0x7b;

/** From an opening brace or bracket to the closing one. */
const TO_CLOSING = 2;

/** Which bytes stand for themselves in a string: 1, but for control characters, the quote and the backslash. */
const plainBytes = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < SPACE || byte === QUOTE || byte === BACKSLASH ? 0 : 1,
);

/** Bytes that may follow a backslash in a string. */
const escapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrtu'));

const literals: ReadonlyMap<number, Buffer> = new Map(
  ['true', 'false', 'null'].map((literal) => [literal.charCodeAt(0), Buffer.from(literal)]),
);

/**
 * Reads JSON from its bytes, as strictly as `JSON.parse` but without making values: where it ends, how deep it is,
 * whether it is well-formed (RFC 8259). For texts that are passed on that is all that must be known, and a third of
 * the work. Every method takes a place in the bytes and gives the place after what it read, or -1 when that is not
 * there.
 */
export class JsonBytes {
  /** Deepest nesting that was met. */
  depth = 0;
  /** The opening bytes of what is open, outermost first. */
  readonly #open: number[] = [];

  /** @param bytes valid UTF-8 */
  constructor(private readonly bytes: Buffer) {}

  /** There is nesting as deep as this, around what is read. */
  reach(depth: number): void {
    if (depth > this.depth) this.depth = depth;
  }

  /** The byte at a place; 0 behind the end. */
  byte(at: number): number {
    return this.bytes[at] ?? END;
  }

  /** What was read. */
  text(start: number, end: number): string {
    return this.bytes.toString('utf8', start, end);
  }

  /** White space, if there is some. */
  space(start: number): number {
    const { bytes } = this;
    let at = start;
    for (;;) {
      const byte = bytes[at] ?? END;
      if (byte > SPACE || (byte !== SPACE && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return at;
      at += 1;
    }
  }

  /** A value that is nested in `outerDepth` others. */
  value(start: number, outerDepth: number): number {
    const { bytes } = this;
    const open = this.#open;
    let at = start;
    let depth = outerDepth;
    for (;;) {
      const first = bytes[at] ?? END;
      if (first === OPEN_BRACE || first === OPEN_BRACKET) {
        if (depth === MAX_DEPTH) return -1;
        open[depth] = first;
        depth += 1;
        this.reach(depth);
        at = this.space(at + 1);
        if (bytes[at] !== first + TO_CLOSING) {
          if (first === OPEN_BRACE) at = this.name(at);
          if (at === -1) return -1;
          continue;
        }
        depth -= 1;
        at += 1;
      } else {
        at = this.#scalar(at, first);
        if (at === -1) return -1;
      }
      // a value has ended: what is open ends too, or another value follows
      for (;;) {
        if (depth === outerDepth) return at;
        if ((bytes[at] ?? END) <= SPACE) at = this.space(at);
        const opening = open[depth - 1] ?? END;
        const next = bytes[at] ?? END;
        if (next === COMMA) {
          at += 1;
          if ((bytes[at] ?? END) <= SPACE) at = this.space(at);
          if (opening === OPEN_BRACE) at = this.name(at);
          if (at === -1) return -1;
          break;
        }
        if (next !== opening + TO_CLOSING) return -1;
        depth -= 1;
        at += 1;
      }
    }
  }

  /** A member's name, the colon and the white space around. */
  name(start: number): number {
    const { bytes } = this;
    if (bytes[start] !== QUOTE) return -1;
    const end = this.#restOfString(start + 1);
    if (end === -1) return -1;
    const isTight = bytes[end] === COLON && (bytes[end + 1] ?? END) > SPACE;
    return isTight ? end + 1 : this.colon(end);
  }

  /** The colon after a member's name and the white space around. */
  colon(start: number): number {
    const at = this.space(start);
    return this.byte(at) === COLON ? this.space(at + 1) : -1;
  }

  /** These bytes and no others. */
  literal(start: number, expected: Buffer): number {
    const { bytes } = this;
    for (let index = 0; index < expected.length; index += 1)
      if (bytes[start + index] !== expected[index]) return -1;
    return start + expected.length;
  }

  /** A number without sign, fraction and exponent. */
  integer(start: number): number {
    return this.byte(start) === ZERO ? start + 1 : this.#digits(start);
  }

  string(start: number): number {
    return this.byte(start) === QUOTE ? this.#restOfString(start + 1) : -1;
  }

  /** A string after its opening quote. */
  #restOfString(start: number): number {
    const { bytes } = this;
    let at = start;
    let nextStride = start + LONG_STRING;
    for (;;) {
      while (at < nextStride && plainBytes[bytes[at] ?? END] === 1) at += 1;
      if (at >= nextStride) {
        const beyondWord = (bytes.byteOffset + at) & 3;
        if (beyondWord === 0) at = this.#stride(at);
        nextStride = beyondWord === 0 ? at + LONG_STRING : at + 4 - beyondWord;
        continue;
      }
      const byte = bytes[at] ?? END;
      if (byte === QUOTE) return at + 1;
      if (byte < SPACE) return -1;
      at += 1;
      if (byte !== BACKSLASH) continue;
      at = this.#restOfEscape(at);
      if (at === -1) return -1;
    }
  }

  /** An escape after its backslash. */
  #restOfEscape(start: number): number {
    const escape = this.byte(start);
    if (!escapes.has(escape)) return -1;
    if (escape !== LOWER_U) return start + 1;
    for (let at = start + 1; at < start + 5; at += 1) if (!isHexDigit(this.byte(at))) return -1;
    return start + 5;
  }

  /** Four bytes at a time, as long as none of them needs a closer look. @param start at which a word begins */
  #stride(start: number): number {
    const { buffer, byteOffset, length } = this.bytes;
    const words = new Uint32Array(buffer, byteOffset + start, (length - start) >> 2);
    let index = 0;
    while (index < words.length && isPlain(words[index] ?? 0)) index += 1;
    return start + index * 4;
  }

  #scalar(at: number, first: number): number {
    if (first === QUOTE) return this.#restOfString(at + 1);
    if (first === MINUS || isDigit(first)) return this.#number(at);
    const literal = literals.get(first);
    if (literal === undefined) return -1;
    return this.literal(at, literal);
  }

  #number(start: number): number {
    let at = this.byte(start) === MINUS ? start + 1 : start;
    at = this.byte(at) === ZERO ? at + 1 : this.#digits(at);
    if (at !== -1 && this.byte(at) === DOT) at = this.#digits(at + 1);
    if (at === -1 || (this.byte(at) | SPACE) !== LOWER_E) return at;
    const sign = this.byte(at + 1);
    return this.#digits(sign === PLUS || sign === MINUS ? at + 2 : at + 1);
  }

  /** One digit or more. */
  #digits(start: number): number {
    const { bytes } = this;
    let at = start;
    while (isDigit(bytes[at] ?? END)) at += 1;
    return at === start ? -1 : at;
  }
}

/**
 * Whether none of a word's four bytes is a control character, a quote or a backslash: the borrow of a subtraction sets
 * the highest bit of a byte that is less than what is taken from it, and of no word without one.
 */
function isPlain(word: number): boolean {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const found =
    ((word - 0x20202020) & ~word) |
    ((quotes - 0x01010101) & ~quotes) |
    ((backslashes - 0x01010101) & ~backslashes);
  return (found & 0x80808080) === 0;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function isHexDigit(byte: number): boolean {
  const lower = byte | SPACE;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}
