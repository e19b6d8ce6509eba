/** First byte of a text message that is one frame (RFC 6455, section 5.2): FIN and opcode 1. */
const TEXT = '\x81';

/** Up to this the second byte is the length; the values above it say that two or eight bytes with it follow. */
const MAX_SHORT = 125;
const TWO_BYTES = '\x7e';
const EIGHT_BYTES = '\x7f';

/** Longer texts are not kept for a second use. */
const MAX_KEPT_LENGTH = 16_384;

/**
 * A whole frame as a server sends it. One that is all ASCII but for its header stays a string, one character a byte
 * (`latin1`): the stream copies it into the write itself, and no buffer is made for it.
 */
export type TextFrame = string | Buffer;

/** Makes the frames of text messages. A text that goes to many sockets, one after the other, is framed once. */
export class TextFrames {
  #text: string | undefined;
  #frame: TextFrame = '';

  /** @param bytes the text's length in UTF-8 */
  of(text: string, bytes: number): TextFrame {
    if (text === this.#text) return this.#frame;
    const frame = startOf(text, bytes, bytes);
    if (bytes <= MAX_KEPT_LENGTH) {
      this.#text = text;
      this.#frame = frame;
    }
    return frame;
  }
}

/** The start of a frame: its header and the first of its text. @param frameBytes length of all its text */
export function startOfFrame(text: string, frameBytes: number): TextFrame {
  return startOf(text, Buffer.byteLength(text), frameBytes);
}

function startOf(text: string, bytes: number, frameBytes: number): TextFrame {
  const head = header(frameBytes);
  if (bytes === text.length) return head + text;
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(text)]);
}

function header(bytes: number): string {
  if (bytes <= MAX_SHORT) return TEXT + String.fromCharCode(bytes);
  if (bytes <= 0xffff) return TEXT + TWO_BYTES + bigEndian(bytes, 2);
  return TEXT + EIGHT_BYTES + bigEndian(bytes, 8);
}

function bigEndian(value: number, bytes: number): string {
  let text = '';
  for (let left = value, count = 0; count < bytes; count += 1) {
    text = String.fromCharCode(left % 0x100) + text;
    left = Math.floor(left / 0x100);
  }
  return text;
}
