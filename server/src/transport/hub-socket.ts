import { WebSocket } from 'ws';

/** Whom a socket tells what happens to it. */
export interface SocketOwner {
  /** Writes what it holds: after a close frame nothing can be sent. */
  flush(): void;
  /** @param data one Buffer with the default `binaryType` */
  received(data: unknown, isBinary: boolean): void;
  pinged(): void;
  ponged(): void;
  failed(error: Error): void;
  /** @param code of the close frame that came, or what `ws` says for none */
  closed(code: number): void;
}

/**
 * A socket with an owner, who is told what happens without listeners: each of many thousands that are idle would keep
 * a list of them.
 */
export class HubSocket extends WebSocket {
  #owner: SocketOwner | undefined;

  /** Tells an owner what happens from now on. */
  tell(owner: SocketOwner): void {
    this.#owner = owner;
  }

  override emit(event: string | symbol, first?: unknown, second?: unknown): boolean {
    const owner = this.#owner;
    if (owner === undefined) return super.emit(event, first, second);
    if (event === 'message') owner.received(first, second === true);
    else if (event === 'ping') owner.pinged();
    else if (event === 'pong') owner.ponged();
    else if (event === 'close') owner.closed(Number(first));
    else if (event === 'error' && first instanceof Error) {
      owner.failed(first);
      return true;
    }
    return super.emit(event, first, second);
  }

  override close(code?: number, data?: string | Buffer): void {
    this.#owner?.flush();
    super.close(code, data);
  }
}
