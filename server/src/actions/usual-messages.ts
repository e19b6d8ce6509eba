import type { RemoteCall, RemoteCallResult } from '@remotes-hub/protocol';
import { JsonBytes } from '../json/json-bytes.js';
import { JsonText } from '../json/json-text.js';
import { MIN_SPLICED_BYTES } from '../json/message-text.js';
import { sliceOf } from '../json/text-slice.js';
import type { FindArgumentsReader, ValueReader } from '../json/value-reader.js';
import type { WrittenMessage } from '../json/written-message.js';
import { SHORT_NONCE_LENGTH, isCallTimeout, isName } from './call-bounds.js';

/*
 * The two messages that clients send most, in the one order and without the white space that nearly all of them write
 * them in: known by what stands between their values, they need no search for members. Whatever is written in another way is read
 * as any message is; a test shows that both ways read the same.
 */

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;

const CALL = Buffer.from('{"action":"remote-call","nonce":');
const BODY = Buffer.from(',"body":{"remotename":');
const FUNCTION = Buffer.from(',"function":');
const TIMEOUT_MS = Buffer.from(',"timeoutMs":');
const ARGS = Buffer.from(',"args":');
const CALL_END = Buffer.from('}}');

const RESULT = Buffer.from('{"action":"remote-call-result","requestId":');
const RESULT_VALUE = Buffer.from(',"result":');
const RESULT_END = Buffer.from('}');

const callAction = new JsonText('"remote-call"');
const resultAction = new JsonText('"remote-call-result"');

/** A call or a result that is written as usual; well-formed, and as its schema wants it. */
export class UsualMessage implements WrittenMessage {
  readonly isWellFormed = true;

  constructor(
    /** Without nonce, `args` and `result`, which are here as text. */
    readonly message: RemoteCall | RemoteCallResult,
    readonly text: string,
    readonly depth: number,
    private readonly nonce: JsonText | undefined,
    /** `args` of a call, or `result`. */
    private readonly value: JsonText,
    readonly argsReadBy: ValueReader | undefined,
  ) {}

  member(name: string): JsonText | undefined {
    const isCall = this.message.action === 'remote-call';
    if (name === 'action') return isCall ? callAction : resultAction;
    if (name === 'nonce') return this.nonce;
    return name === 'result' && !isCall ? this.value : undefined;
  }

  /** None but `args` is asked for: names and deadline are in {@link message}. */
  bodyMember(name: string): JsonText | undefined {
    return name === 'args' && this.message.action === 'remote-call' ? this.value : undefined;
  }
}

/**
 * Reads a frame that is written as usual; `undefined` when it is not.
 * @param findReader as in `MessageText.read`
 */
export function readUsual(frame: Buffer, findReader: FindArgumentsReader): UsualMessage | undefined {
  if (frame.length >= MIN_SPLICED_BYTES) return undefined; // their values are passed on as bytes
  const json = new JsonBytes(frame);
  const result = json.literal(0, RESULT);
  if (result !== -1) return new UsualReader(json, frame, result).result();
  const call = json.literal(0, CALL);
  return call === -1 ? undefined : new UsualReader(json, frame, call).call(findReader);
}

/** Goes from part to part. Once a part is not there, `#at` is -1 and stays it, and what is read further is of no use. */
class UsualReader {
  readonly #text: string;
  /** Whether each character of the text is one byte. */
  readonly #isSingle: boolean;
  #at: number;

  constructor(
    private readonly json: JsonBytes,
    private readonly frame: Buffer,
    at: number,
  ) {
    this.#text = frame.toString();
    this.#isSingle = this.#text.length === frame.length;
    this.#at = at;
  }

  result(): UsualMessage | undefined {
    const requestId = this.#plainString();
    this.#literal(RESULT_VALUE);
    const value = this.#value(1);
    this.#end(RESULT_END);
    const message: RemoteCallResult = { action: 'remote-call-result', requestId };
    return this.#message(message, undefined, value, undefined);
  }

  call(findReader: FindArgumentsReader): UsualMessage | undefined {
    const nonce = this.#nonce();
    this.#literal(BODY);
    const remotename = this.#name();
    this.#literal(FUNCTION);
    const functionName = this.#name();
    const call: RemoteCall = { action: 'remote-call', body: { remotename, function: functionName } };
    const timeoutStart = this.#at === -1 ? -1 : this.json.literal(this.#at, TIMEOUT_MS);
    if (timeoutStart !== -1) call.body.timeoutMs = this.#timeoutMs(timeoutStart);
    this.#literal(ARGS);
    if (this.#at === -1 || this.json.byte(this.#at) !== OPEN_BRACE) return undefined;
    const reader = findReader(remotename, functionName);
    const end = reader?.read(this.json, this.#at, 2) ?? -1;
    const args = end === -1 ? this.#value(2) : this.#upTo(end);
    this.#end(CALL_END);
    return this.#message(call, nonce, args, end === -1 ? undefined : reader);
  }

  #message(
    message: RemoteCall | RemoteCallResult,
    nonce: JsonText | undefined,
    value: JsonText,
    argsReadBy: ValueReader | undefined,
  ): UsualMessage | undefined {
    if (this.#at === -1) return undefined;
    return new UsualMessage(message, this.#text, this.json.depth, nonce, value, argsReadBy);
  }

  #literal(expected: Buffer): void {
    if (this.#at !== -1) this.#at = this.json.literal(this.#at, expected);
  }

  #end(expected: Buffer): void {
    this.#literal(expected);
    if (this.#at !== this.frame.length) this.#at = -1;
  }

  /** What is read up to a place, or nothing when that is -1. */
  #upTo(end: number): JsonText {
    const text = end === -1 ? '' : this.#slice(this.#at, end);
    this.#at = end;
    return new JsonText(text);
  }

  #value(outerDepth: number): JsonText {
    this.json.reach(outerDepth);
    return this.#upTo(this.#at === -1 ? -1 : this.json.value(this.#at, outerDepth));
  }

  #nonce(): JsonText {
    const isString = this.json.byte(this.#at) === QUOTE;
    const end = isString ? this.json.string(this.#at) : this.json.integer(this.#at);
    return this.#upTo(end - this.#at > SHORT_NONCE_LENGTH ? -1 : end);
  }

  #timeoutMs(start: number): number {
    const end = this.json.integer(start);
    const timeoutMs = Number(this.#slice(start, end));
    this.#at = isCallTimeout(timeoutMs) ? end : -1;
    return timeoutMs;
  }

  #name(): string {
    const name = this.#plainString();
    if (!isName(name)) this.#at = -1;
    return name;
  }

  /** A string without escapes. */
  #plainString(): string {
    const start = this.#at;
    this.#at = start === -1 ? -1 : this.json.string(start);
    if (this.#at === -1) return '';
    const text = this.#slice(start + 1, this.#at - 1);
    if (text.includes('\\')) this.#at = -1;
    return text;
  }

  #slice(start: number, end: number): string {
    return this.#isSingle ? sliceOf(this.#text, start, end) : this.frame.toString('utf8', start, end);
  }
}
