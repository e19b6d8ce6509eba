import type { Readable } from 'node:stream';
import { usageError } from './exit-codes.js';

/** Everything on standard input as text, at most `maxBytes` of UTF-8. @throws {CommandError} usage */
export async function readAll(stdin: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes =
      typeof chunk === 'string' || chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.alloc(0);
    length += bytes.length;
    if (length > maxBytes) throw usageError(`standard input: expected at most ${maxBytes} bytes`);
    chunks.push(bytes);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw usageError('standard input: expected UTF-8 text');
  }
}
