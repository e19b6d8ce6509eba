import type { JsonObject, JsonValue } from '@remotes-hub/protocol';
import { MAX_JSON_DEPTH } from '@remotes-hub/protocol/limits';

/** Reads a JSON text. @throws {SyntaxError} */
export const parseJson: (text: string) => JsonValue = JSON.parse;

/** Whether a value that came from a JSON text is an object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A string as it is, anything else as nothing. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A number as it is, anything else as nothing. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Objects of which `JSON.stringify` would silently keep little or nothing. */
const lossyKinds = new Set(['Map', 'Set', 'WeakMap', 'WeakSet', 'Promise', 'Error', 'RegExp', 'ArrayBuffer']);

/** A value as JSON text. */
export interface EncodedJson {
  readonly text: string;
  /** It is known to be nested no deeper than any hub takes. */
  readonly isShallow: boolean;
}

/**
 * The JSON text of a value, as `JSON.stringify` writes it (`undefined` at the top is `null`), but for what it
 * would lose without a word: those values are refused wherever they stand.
 *
 * @param what how the error calls the value: "the result", "args"
 * @throws {TypeError} it holds, or is, a big integer, function, symbol, Map, Set, Promise, Error, RegExp or
 *   binary data, refers to itself, or has a `toJSON` or getter that throws
 * @throws {RangeError} it is nested too deeply to be written at all
 */
export function encodeJson(value: unknown, what: string): EncodedJson {
  try {
    const isShallow = isKept(value, QUICK_DEPTH);
    return { text: JSON.stringify(value, isShallow ? undefined : refuseLoss) ?? 'null', isShallow };
  } catch (cause) {
    if (isStackOverflow(cause)) throw new RangeError(`${what} is nested too deeply`, { cause });
    throw new TypeError(`${what} cannot be sent as JSON: ${whyUnwritable(cause)}`, { cause });
  }
}

/** How deep the quick look goes. */
const QUICK_DEPTH = 16;

/** Whether JSON keeps a value, as a quick look tells: it spares `JSON.stringify` to ask for each member. */
function isKept(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return kindThatJsonLoses(value) === undefined;
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isKept(item, depth - 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const member of Object.values(value)) if (!isKept(member, depth - 1)) return false;
  return true;
}

function refuseLoss(key: string, value: unknown): unknown {
  const kind = kindThatJsonLoses(value);
  if (kind === undefined) return value;
  throw new TypeError(key === '' ? `it is ${kind}` : `${JSON.stringify(key.slice(0, 100))} is ${kind}`);
}

function kindThatJsonLoses(value: unknown): string | undefined {
  if (typeof value === 'bigint') return 'a big integer';
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (Object.getPrototypeOf(value) === Object.prototype) return undefined;
  if (ArrayBuffer.isView(value)) return 'binary data';
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
  if (!lossyKinds.has(kind)) return undefined;
  if (kind === 'Promise') return 'a Promise (await it first)';
  return kind === 'ArrayBuffer' ? 'binary data' : `${kind === 'Error' ? 'an' : 'a'} ${kind}`;
}

/** Each engine has its own error for it. */
function isStackOverflow(thrown: unknown): boolean {
  return thrown instanceof Error && /call stack|recursion/iu.test(thrown.message);
}

function whyUnwritable(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  // Every engine words it differently, and some list property names over several lines.
  return /circular|cyclic/iu.test(text) ? 'it is circular' : text;
}

/** Why a hub would refuse a frame. The text continues "the result …", "the message …". */
export interface FrameProblem {
  /** What a call fails with that has it. */
  readonly code: 'message-too-large' | 'invalid-arguments';
  readonly text: string;
}

/**
 * What is wrong with a frame before it is sent: a hub closes the connection of one that is too large.
 * @param isShallow nothing in it is nested deeply
 */
export function frameProblem(
  text: string,
  maxMessageBytes: number,
  isShallow: boolean,
): FrameProblem | undefined {
  const bytes = text.length * 3 <= maxMessageBytes ? 0 : new TextEncoder().encode(text).byteLength;
  if (bytes > maxMessageBytes) {
    return { code: 'message-too-large', text: `is ${bytes} bytes, the hub takes at most ${maxMessageBytes}` };
  }
  const depth = isShallow ? 0 : nestingDepth(text);
  if (depth <= MAX_JSON_DEPTH) return undefined;
  return {
    code: 'invalid-arguments',
    text: `is nested ${depth} levels deep with its message, the hub takes at most ${MAX_JSON_DEPTH}`,
  };
}

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Deepest nesting of objects and arrays in a JSON text; the outermost counts 1. */
function nestingDepth(text: string): number {
  if (text.length <= 2 * MAX_JSON_DEPTH) return 0; // too short to be too deep
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  return deepest;
}

/** Where the string that opens at `start` closes. */
function endOfString(text: string, start: number): number {
  let at = start;
  do {
    at = text.indexOf('"', at + 1);
    if (at === -1) return text.length;
  } while (isEscaped(text, at));
  return at;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
