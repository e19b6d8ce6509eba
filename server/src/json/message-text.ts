import type { JsonValue } from '@remotes-hub/protocol';
import { JsonText } from './json-text.js';
import type { Member, MessagePlaces } from './message-places.js';
import { readBytes } from './read-bytes.js';
import { scanText } from './scan-text.js';
import { sliceOf } from './text-slice.js';
import type { FindArgumentsReader, ValueReader } from './value-reader.js';
import type { WrittenMessage } from './written-message.js';

/** Values from this length on are passed on as the bytes that they came in, and become text when they are parsed. */
export const MIN_SPLICED_BYTES = 32_768;

/**
 * One message with the places of its members, and of its body's, so that `nonce`, `args`, `result` and `tools` can be
 * passed on as they were written.
 */
export class MessageText implements WrittenMessage {
  #text: string | undefined;

  /** @param bytes in which the places are; without, they are in the text */
  private constructor(
    private readonly places: MessagePlaces,
    text: string | undefined,
    private readonly bytes: Buffer | undefined,
    /** When it is not known to be well-formed JSON, only {@link parse} tells. */
    readonly isWellFormed: boolean,
  ) {
    this.#text = text;
  }

  /**
   * The places in a frame, or `undefined` when it cannot be a message.
   * @param findReader gives what reads the arguments of a call, so that they are not read once more to be checked
   */
  static read(frame: Buffer, findReader?: FindArgumentsReader): MessageText | undefined {
    const text = frame.length < MIN_SPLICED_BYTES ? frame.toString() : undefined;
    const isOneByteEach = text?.length === frame.length;
    const places = readBytes(frame, isOneByteEach ? text : undefined, findReader);
    if (places === undefined) return MessageText.scan(text ?? frame.toString());
    return new MessageText(places, text, isOneByteEach ? undefined : frame, true);
  }

  /** The places in a text which is not checked to be JSON, or `undefined` when it cannot be an object. */
  static scan(text: string): MessageText | undefined {
    const places = scanText(text);
    return places && new MessageText(places, text, undefined, false);
  }

  get text(): string {
    this.#text ??= this.bytes?.toString() ?? '';
    return this.#text;
  }

  /** In the order they were written; a name may come twice. */
  get members(): readonly Member[] {
    return this.places.members;
  }

  /** Those of `body`, when it is an object. */
  get bodyMembers(): readonly Member[] {
    return this.places.bodyMembers;
  }

  get argsReadBy(): ValueReader | undefined {
    return this.places.argsReadBy;
  }

  get depth(): number {
    return this.places.depth;
  }

  /** The whole message as a value. @throws {SyntaxError} when the text is not JSON */
  parse(): JsonValue {
    // oxlint-disable-next-line typescript/no-unsafe-return -- JSON.parse makes JSON values and nothing else
    return JSON.parse(this.text);
  }

  member(name: string): JsonText | undefined {
    return this.#find(this.members, name);
  }

  bodyMember(name: string): JsonText | undefined {
    return this.#find(this.bodyMembers, name);
  }

  /** Every member as it was written, in that order. */
  entries(): readonly (readonly [string, JsonText])[] {
    return this.members.map((member) => [member.name, this.#value(member)]);
  }

  #find(members: readonly Member[], name: string): JsonText | undefined {
    for (let index = members.length - 1; index >= 0; index -= 1) {
      const member = members[index];
      if (member?.name === name) return this.#value(member);
    }
    return undefined;
  }

  #value({ start, end }: Member): JsonText {
    const { bytes } = this;
    if (bytes === undefined) return new JsonText(sliceOf(this.text, start, end));
    // a short one must not keep all the bytes of the message
    if (end - start < MIN_SPLICED_BYTES) return new JsonText(bytes.toString('utf8', start, end));
    return new JsonText(bytes.subarray(start, end));
  }
}
