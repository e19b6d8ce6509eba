import type { JsonValue } from '@remotes-hub/protocol';

const OPEN_BRACE = 0x7b;

/**
 * JSON as the text it came in. The hub carries `args`, `result` and `parameters` of others and never rewrites
 * them, so that numbers, key order and own `__proto__` keys arrive as they were written.
 */
export class JsonText {
  /** As it was received, where it is long: passing that on spares writing it anew. */
  readonly bytes: Buffer | undefined;
  #text: string | undefined;

  /** @param json well-formed, as text or as its UTF-8; whoever makes a JsonText has checked it */
  constructor(json: string | Buffer) {
    if (typeof json === 'string') this.#text = json;
    else this.bytes = json;
  }

  get text(): string {
    this.#text ??= this.bytes?.toString() ?? '';
    return this.#text;
  }

  /** Whether it is the text of an object. */
  get isObject(): boolean {
    return (this.bytes?.[0] ?? this.text.charCodeAt(0)) === OPEN_BRACE;
  }

  /** The JSON text of a value of our own. Not for values from outside, which may not be representable. */
  static of(value: unknown): JsonText {
    return new JsonText(JSON.stringify(value) ?? 'null');
  }

  /** The value; `__proto__` keys become own properties. */
  parse(): JsonValue {
    // oxlint-disable-next-line typescript/no-unsafe-return -- JSON.parse makes JSON values and nothing else
    return JSON.parse(this.text);
  }
}

/** A message on its way out whose greater part is passed on as it was received. */
export class SplicedText {
  constructor(
    readonly before: string,
    readonly bytes: Buffer,
    readonly after: string,
  ) {}

  toString(): string {
    return `${this.before}${this.bytes.toString()}${this.after}`;
  }
}

/** A message on its way out. */
export type OutgoingText = string | SplicedText;

/** A message around a value of others: its text before and after the value, in JSON. */
export function splice(before: string, value: JsonText, after: string): OutgoingText {
  const { bytes } = value;
  return bytes === undefined ? before + value.text + after : new SplicedText(before, bytes, after);
}

/** A message as fields; a {@link JsonText} is written as it is, everything else by `JSON.stringify`. */
export type JsonFields = Readonly<Record<string, unknown>>;

/**
 * The JSON text of an object whose fields may be {@link JsonText}; fields that are `undefined` are left out.
 * @param nonce becomes its last field, when there is one
 */
export function writeJson(fields: JsonFields, nonce?: JsonText): string {
  let text = '{';
  for (const key in fields) {
    const value = fields[key];
    if (value === undefined) continue;
    if (text.length > 1) text += ',';
    text += `${JSON.stringify(key)}:${value instanceof JsonText ? value.text : JSON.stringify(value)}`;
  }
  if (nonce !== undefined) text += `${text.length > 1 ? ',' : ''}"nonce":${nonce.text}`;
  return `${text}}`;
}
