import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { SocketConstructor } from '../socket.js';
import { TurnCork } from './turn-cork.js';

/** Without compression: messages are small, and a compressor costs memory in every connection. */
class NodeWebSocket extends WebSocket {
  #cork: TurnCork | undefined;

  constructor(url: string, protocol: string) {
    super(url, protocol, { perMessageDeflate: false });
    this.once('upgrade', ({ socket }: IncomingMessage) => {
      this.#cork = new TurnCork(socket);
    });
  }

  override send(text: string): void {
    this.#cork?.beforeFrame();
    super.send(text);
  }

  override terminate(): void {
    this.#cork?.release();
    super.terminate();
  }
}

/** The socket that is used when `connect` is given none: in Node, that of `ws`. */
export function defaultWebSocket(): SocketConstructor | undefined {
  return NodeWebSocket;
}
