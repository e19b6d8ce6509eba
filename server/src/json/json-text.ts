import type { JsonValue } from '@remotes-hub/protocol';

/**
 * JSON as the text it came in. The hub carries `args`, `result` and `parameters` of others and never rewrites
 * them, so that numbers, key order and own `__proto__` keys arrive as they were written.
 */
export class JsonText {
  /** @param text well-formed JSON; whoever makes a JsonText has checked it */
  constructor(readonly text: string) {}

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
