/** What a stream tells of its bytes; one that is no socket counts none. */
export interface CountedStream {
  /** Bytes that have come. */
  readonly bytesRead?: number;
  /** Bytes that were written, those that still wait included. */
  readonly bytesWritten?: number;
  /** Bytes that wait to be written. */
  readonly writableLength: number;
}

/**
 * Whether something moves on a stream, from one look to the next: a pong cannot overtake the long frame that is on its
 * way, nor a ping what is queued. What leaves without a queue proves nothing: it may lie in the system's buffers.
 */
export class StreamProgress {
  #read = 0;
  /** What had left at the last look, where more was waiting. */
  #sent: number | undefined;

  constructor(private readonly stream: CountedStream) {}

  /** What has come so far counts no more. */
  disregardRead(): void {
    this.#read = this.stream.bytesRead ?? 0;
  }

  /** Whether bytes have come since the last look, or left while more were waiting. */
  hasMoved(): boolean {
    const { bytesRead = 0, bytesWritten = 0, writableLength } = this.stream;
    const sent = bytesWritten - writableLength;
    const hasCome = bytesRead > this.#read;
    const hasLeft = this.#sent !== undefined && sent > this.#sent;
    this.#read = bytesRead;
    this.#sent = writableLength > 0 ? sent : undefined;
    return hasCome || hasLeft;
  }
}
