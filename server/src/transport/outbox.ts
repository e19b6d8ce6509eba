import type { TextFrame } from './text-frames.js';

/**
 * Small frames that are written together at most, as the SDK does it. With more, the two sides would take turns: one waits
 * while the other works through all there is.
 */
const MAX_TOGETHER = 16;

/** Bytes that are not held for more to come. */
const MAX_HELD_BYTES = 65_536;

/** The stream under a socket, as the upgrade gave it. */
export interface FrameStream {
  /** Bytes that wait to be written. */
  readonly writableLength: number;
  /** False when it has ended, or is destroyed. */
  readonly writable: boolean;
  write(text: string, encoding: 'latin1'): unknown;
  write(bytes: Buffer): unknown;
  cork(): void;
  uncork(): void;
}

/**
 * The frames of one socket on their way out: those of one turn of the event loop are written together, some at a time, since
 * for small frames the system call is most of what they cost. Texts become one text, which costs the stream one write. A
 * lone frame leaves when the turn's work is done, before anything else happens.
 */
export class Outbox {
  /** What is held, in this order: pieces, then text. Each character of a text is a byte. */
  #pieces: (string | Buffer)[] | undefined;
  #text = '';
  #heldBytes = 0;
  /** Of this turn. */
  #frames = 0;

  constructor(private readonly stream: FrameStream) {}

  /** Bytes that wait to be written, here or in the stream. */
  get queuedBytes(): number {
    return this.stream.writableLength + this.#heldBytes;
  }

  /** A frame, in pieces that go one after the other. */
  write(frame: TextFrame, bytes?: Buffer, end?: TextFrame): void {
    if (this.#frames === 0) process.nextTick(endTurn, this);
    this.#frames += 1;
    this.#hold(frame);
    if (bytes !== undefined) this.#hold(bytes);
    if (end !== undefined) this.#hold(end);
    if (this.#frames % MAX_TOGETHER === 0 || this.#heldBytes >= MAX_HELD_BYTES) this.flush();
  }

  /** Lets go what is held: something else is about to be written, or the stream to be destroyed. */
  flush(): void {
    if (this.#heldBytes === 0) return;
    const pieces = this.#pieces;
    const text = this.#text;
    this.#pieces = undefined;
    this.#text = '';
    this.#heldBytes = 0;
    if (!this.stream.writable) return;
    if (pieces === undefined) return void this.stream.write(text, 'latin1');
    this.stream.cork();
    for (const piece of pieces) this.#write(piece);
    this.#write(text);
    this.stream.uncork();
  }

  #write(piece: string | Buffer): void {
    if (typeof piece === 'string') this.stream.write(piece, 'latin1');
    else this.stream.write(piece);
  }

  #hold(piece: string | Buffer): void {
    this.#heldBytes += piece.length;
    if (typeof piece === 'string') {
      this.#text += piece;
      return;
    }
    this.#pieces ??= [];
    if (this.#text !== '') this.#pieces.push(this.#text);
    this.#pieces.push(piece);
    this.#text = '';
  }

  /** The turn is over. */
  endTurn(): void {
    this.#frames = 0;
    this.flush();
  }
}

/** One function for all, since an idle outbox is one of many thousands. */
function endTurn(outbox: Outbox): void {
  outbox.endTurn();
}
