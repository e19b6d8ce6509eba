import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

const STDOUT = 1;
const STDERR = 2;

/** Lines are written together when they are so long, in characters, or this much later, in milliseconds. */
const MIN_CHARACTERS = 16_384;
const FLUSH_MS = 100;

/** Characters that are held for a reader that is slow, or a disk that is full; lines beyond them are dropped. */
const MAX_HELD = 4 * 1024 * 1024;

/**
 * Standard output for as long as the process lives, with many lines in one write: a write for each would be a good part of
 * what a login costs. What cannot be written is dropped, and said once on standard error: a full disk must not stop the hub,
 * nor its end. What is left is written at the exit.
 */
export function bufferedOutput(): BufferedOutput {
  const output = new BufferedOutput(process.stdout.isTTY ? 1 : MIN_CHARACTERS);
  process.once('exit', () => output.flushSync());
  return output;
}

/** Where the lines of a log go. */
export class BufferedOutput implements DestinationStream {
  #lines = '';
  #isWriting = false;
  #timer: NodeJS.Timeout | undefined;
  #hasComplained = false;

  /** @param minCharacters that are written at once */
  constructor(private readonly minCharacters: number) {}

  write(line: string): void {
    if (this.#lines.length + line.length > MAX_HELD) return this.#complain('it is not read');
    this.#lines += line;
    if (this.#lines.length >= this.minCharacters) this.#flush();
    else this.#flushSoon();
  }

  /** Writes what is held before anything else happens: somebody waits for it, or the process ends. */
  flushSync(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let bytes = Buffer.from(this.#lines);
    this.#lines = '';
    try {
      while (bytes.length > 0) bytes = bytes.subarray(writeSync(STDOUT, bytes));
    } catch (error) {
      this.#complain(error instanceof Error ? error.message : 'it cannot be written');
    }
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref();
  }

  #flush(): void {
    if (this.#isWriting || this.#lines === '') return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const bytes = Buffer.from(this.#lines);
    this.#lines = '';
    this.#isWriting = true;
    this.#write(bytes);
  }

  #write(bytes: Buffer): void {
    write(STDOUT, bytes, 0, bytes.length, null, (error, written) => {
      if (error?.code === 'EAGAIN') return void setTimeout(() => this.#write(bytes), FLUSH_MS).unref();
      if (error === null && written < bytes.length) return this.#write(bytes.subarray(written));
      if (error !== null) this.#complain(error.message);
      this.#isWriting = false;
      if (this.#lines !== '') this.#flushSoon();
    });
  }

  #complain(why: string): void {
    if (this.#hasComplained) return;
    this.#hasComplained = true;
    try {
      writeSync(STDERR, `remotes-hub: lines of the log are lost: ${why}\n`);
    } catch {
      // nobody is told
    }
  }
}
