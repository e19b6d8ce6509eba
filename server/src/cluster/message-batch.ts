import { JsonText } from '../json/json-text.js';
import type { NodeMessage } from './node-messages.js';

/** The first byte: a node leaves batches of another form alone. */
const FORMAT = 1;
/** The first byte of a batch that has come back, with the id of the node that it was for. */
const RETURNED = 2;
/** Two lengths before each message. */
const LENGTHS = 8;
/** Bodies from this length on stay bytes, since they are mostly passed on. */
const MIN_KEPT_BYTES = 32_768;

/** A message as it is written, and its lengths in bytes. */
export class EncodedMessage {
  readonly #head: string;
  readonly #headBytes: number;
  readonly #body: string | Buffer | undefined;
  readonly #bodyBytes: number;

  constructor({ head, body }: NodeMessage) {
    this.#head = JSON.stringify(head);
    this.#headBytes = Buffer.byteLength(this.#head);
    this.#body = body?.bytes ?? body?.text;
    this.#bodyBytes = this.#body === undefined ? 0 : Buffer.byteLength(this.#body);
  }

  get bytes(): number {
    return LENGTHS + this.#headBytes + this.#bodyBytes;
  }

  /** @returns the place after it */
  writeTo(batch: Buffer, start: number): number {
    batch.writeUInt32LE(this.#headBytes, start);
    batch.writeUInt32LE(this.#bodyBytes, start + 4);
    const body = start + LENGTHS + this.#headBytes;
    batch.write(this.#head, start + LENGTHS);
    if (typeof this.#body === 'string') batch.write(this.#body, body);
    else this.#body?.copy(batch, body);
    return body + this.#bodyBytes;
  }
}

/** The messages of one node for another, in one piece: the form, who sends them, then each with its lengths. */
export function writeBatch(sender: string, messages: readonly EncodedMessage[]): Buffer {
  const senderBytes = Buffer.byteLength(sender);
  let length = 2 + senderBytes;
  for (const { bytes } of messages) length += bytes;
  const batch = Buffer.allocUnsafe(length);
  batch[0] = FORMAT;
  batch[1] = senderBytes;
  batch.write(sender, 2);
  let at = 2 + senderBytes;
  for (const message of messages) at = message.writeTo(batch, at);
  return batch;
}

/** A batch as it was received. */
export interface ReceivedBatch {
  readonly sender: string;
  readonly messages: readonly NodeMessage[];
}

/** What a batch begins with that has come back from a node. */
export function returnMark(nodeId: string): string {
  return String.fromCharCode(RETURNED, Buffer.byteLength(nodeId)) + nodeId;
}

/** A batch that has come back, and the node that it was for; `undefined` when it is none. */
export function readReturned(payload: Buffer): { nodeId: string; batch: Buffer } | undefined {
  if (payload[0] !== RETURNED) return undefined;
  const end = 2 + (payload[1] ?? 0);
  return { nodeId: payload.toString('utf8', 2, end), batch: payload.subarray(end) };
}

/** Reads a batch; `undefined` when it is none, or of a form that is not known. */
export function readBatch(batch: Buffer): ReceivedBatch | undefined {
  if (batch[0] !== FORMAT) return undefined;
  let at = 2 + (batch[1] ?? 0);
  const sender = batch.toString('utf8', 2, at);
  const messages: NodeMessage[] = [];
  while (at < batch.length) {
    if (at + LENGTHS > batch.length) return undefined;
    const head = at + LENGTHS;
    const body = head + batch.readUInt32LE(at);
    const end = body + batch.readUInt32LE(at + 4);
    if (end > batch.length) return undefined;
    const message = readMessage(batch, head, body, end);
    if (message === undefined) return undefined;
    messages.push(message);
    at = end;
  }
  return { sender, messages };
}

function readMessage(batch: Buffer, head: number, body: number, end: number): NodeMessage | undefined {
  const fields = readHead(batch.toString('utf8', head, body));
  if (fields === undefined) return undefined;
  if (end === body) return { head: fields };
  const isKept = end - body >= MIN_KEPT_BYTES;
  return {
    head: fields,
    body: new JsonText(isKept ? batch.subarray(body, end) : batch.toString('utf8', body, end)),
  };
}

function readHead(text: string): readonly unknown[] | undefined {
  try {
    const head: unknown = JSON.parse(text);
    return Array.isArray(head) ? head : undefined;
  } catch {
    return undefined;
  }
}
