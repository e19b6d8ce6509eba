import { WebSocket } from 'ws';
import type { SocketConstructor } from '../socket.js';

/** Without compression: messages are small, and a compressor costs memory in every connection. */
class NodeWebSocket extends WebSocket {
  constructor(url: string, protocol: string) {
    super(url, protocol, { perMessageDeflate: false });
  }
}

/** The socket that is used when `connect` is given none: in Node, that of `ws`. */
export function defaultWebSocket(): SocketConstructor | undefined {
  return NodeWebSocket;
}
