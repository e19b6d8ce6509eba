import { WebSocket } from 'ws';

/** Whom a socket tells what happens to it. */
export interface SocketOwner {
  /** Writes what it holds: after a close frame nothing can be sent. */
  flush(): void;
  received(data: WebSocket.RawData, isBinary: boolean): void;
  pinged(): void;
  ponged(): void;
  failed(error: Error): void;
  /** @param code of the close frame that came, or what `ws` says for none */
  closed(code: number): void;
}

/** A socket with an owner. Its listeners are shared by all sockets: an idle one is one of many thousands. */
export class HubSocket extends WebSocket {
  owner: SocketOwner | undefined;

  /** Tells an owner what happens from now on. */
  tell(owner: SocketOwner): void {
    this.owner = owner;
    this.on('message', received)
      .on('ping', pinged)
      .on('pong', ponged)
      .on('error', failed)
      .on('close', closed);
  }

  override close(code?: number, data?: string | Buffer): void {
    this.owner?.flush();
    super.close(code, data);
  }
}

function received(this: WebSocket, data: WebSocket.RawData, isBinary: boolean): void {
  ownerOf(this)?.received(data, isBinary);
}

function pinged(this: WebSocket): void {
  ownerOf(this)?.pinged();
}

function ponged(this: WebSocket): void {
  ownerOf(this)?.ponged();
}

function failed(this: WebSocket, error: Error): void {
  ownerOf(this)?.failed(error);
}

function closed(this: WebSocket, code: number): void {
  ownerOf(this)?.closed(code);
}

function ownerOf(socket: WebSocket): SocketOwner | undefined {
  return socket instanceof HubSocket ? socket.owner : undefined;
}
