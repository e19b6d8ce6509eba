import { closeSync, openSync, readSync } from 'node:fs';

/** A file that cannot be read as text. The message names the file and holds none of its content. */
export class TextFileError extends Error {
  override readonly name = 'TextFileError';
}

/** Reasons in words, by the code of the system's error. */
const reasons = new Map([
  ['ENOENT', 'no such file'],
  ['EISDIR', 'it is a directory'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
]);

/**
 * The text of a UTF-8 file of at most `maxBytes`; a byte order mark at its start is dropped. Pipes work as well,
 * and no more than `maxBytes` are ever read.
 * @throws {TextFileError}
 */
export function readTextFile(path: string, maxBytes: number): string {
  const bytes = readBytes(path, maxBytes + 1);
  if (bytes.length > maxBytes) throw new TextFileError(`file ${path} is larger than ${maxBytes} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new TextFileError(`file ${path} is not UTF-8 text`, { cause });
  }
}

function readBytes(path: string, most: number): Buffer {
  try {
    const file = openSync(path, 'r');
    try {
      return readUpTo(file, most);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw new TextFileError(`cannot read file ${path}: ${reasonOf(cause)}`, { cause });
  }
}

function readUpTo(file: number, most: number): Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  while (length < most) {
    const chunk = Buffer.alloc(Math.min(64 * 1024, most - length));
    const count = readSync(file, chunk, 0, chunk.length, null);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    length += count;
  }
  return Buffer.concat(chunks, length);
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return reasons.get(code) ?? (code === '' ? 'unknown error' : code);
}
