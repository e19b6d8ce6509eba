import type { WebSocket } from 'ws';
import type { FanOutClient } from './adapter.js';

const remotename = 'bench-events';
const connect = JSON.stringify({ action: 'remote-connect', body: { remotename, tools: [] } });
const disconnect = JSON.stringify({ action: 'remote-disconnect', body: { remotename } });

/**
 * A session of the hub that publishes by connecting and disconnecting a remote in turns: every session of its user
 * is told.
 */
export class EventSocket implements FanOutClient {
  #isConnected = false;

  constructor(
    private readonly socket: WebSocket,
    received: (isRight: boolean) => void,
  ) {
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      if (text.startsWith('{"action":"remote-')) received(text.includes(remotename));
    });
  }

  publish(): void {
    this.socket.send(this.#isConnected ? disconnect : connect);
    this.#isConnected = !this.#isConnected;
  }

  close(): void {
    this.socket.terminate();
  }
}
