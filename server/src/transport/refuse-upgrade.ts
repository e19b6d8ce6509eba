import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@remotes-hub/protocol';

/** Why an upgrade is refused, as a whole HTTP answer. */
export interface UpgradeRefusal {
  readonly status: number;
  readonly error: string;
  readonly code?: ErrorCode;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Time for the peer to read the refusal and close, before the socket is destroyed, in milliseconds. */
const LINGER_MS = 2_000;

/** Answers an upgrade request with a complete HTTP response and closes its socket. */
export function refuseUpgrade(socket: Duplex, { status, error, code, headers = {} }: UpgradeRefusal): void {
  if (socket.destroyed) return;
  const body = JSON.stringify({ error, code });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  // what still comes is read and dropped: closing with bytes unread would reset the connection, and the answer be lost
  socket.resume();
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
