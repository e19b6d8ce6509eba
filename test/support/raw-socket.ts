import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually, soon } from './eventually.js';

/** A TCP connection that says what a well-behaved client never would. */
export class RawSocket implements Disposable {
  readonly ended: Promise<void>;
  #chunks: Buffer[] = [];

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk) => void this.#chunks.push(chunk));
    socket.on('error', () => undefined);
    this.ended = once(socket, 'close').then(() => undefined);
  }

  static async open(url: string): Promise<RawSocket> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, 'connect');
    return new RawSocket(socket);
  }

  /** All that came, one character for each byte. */
  get text(): string {
    const received = Buffer.concat(this.#chunks);
    this.#chunks = [received];
    return received.toString('latin1');
  }

  write(data: string | Uint8Array): void {
    this.socket.write(data);
  }

  /** Waits until this has come. */
  async until(part: string): Promise<string> {
    await eventually(
      () => this.text.includes(part),
      `${JSON.stringify(part)} in ${JSON.stringify(this.text)}`,
    );
    return this.text;
  }

  /** All that came until the peer closed the connection. */
  async rest(): Promise<string> {
    await soon(this.ended, 'the end of a raw connection');
    return this.text;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

/** An HTTP request for an upgrade; a header that is `undefined` is left out. */
export function upgradeRequest(path: string, headers: Record<string, string | undefined> = {}): string {
  const all: Record<string, string | undefined> = {
    Host: '127.0.0.1',
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version': '13',
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  return [`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

/** Opcodes of RFC 6455, section 5.2. */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** One masked frame as a client sends it. */
export function frame(
  opcode: number,
  payload: string | Uint8Array,
  { fin = true, masked = true }: { readonly fin?: boolean; readonly masked?: boolean } = {},
): Buffer {
  const data = Buffer.from(payload);
  const first = (fin ? 0x80 : 0) | opcode;
  const bit = masked ? 0x80 : 0;
  const head =
    data.length < 126 ? Buffer.from([first, bit | data.length]) : longHead(first, bit, data.length);
  if (!masked) return Buffer.concat([head, data]);
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, data.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}

function longHead(first: number, bit: number, length: number): Buffer {
  if (length < 65_536) {
    const head = Buffer.from([first, bit | 126, 0, 0]);
    head.writeUInt16BE(length, 2);
    return head;
  }
  const head = Buffer.from([first, bit | 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(length, 6);
  return head;
}
