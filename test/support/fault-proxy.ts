import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Two sockets that belong together. */
interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  isStalled: boolean;
  /** It has become a WebSocket; a page asks for its parts by other connections. */
  isWebSocket: boolean;
}

/** A TCP proxy in front of a hub, on which a test inflicts what networks do to connections. */
export class FaultProxy implements AsyncDisposable {
  readonly #pairs = new Set<Pair>();
  /** Far ends whose near ones are gone without their knowledge. */
  readonly #orphans = new Set<Socket>();
  readonly #server = createServer((near) => this.#accept(near));
  readonly #target: URL;
  /** How many connections were asked for. */
  attempts = 0;
  /** New connections are cut at once. */
  isDown = false;
  /** Delay of every chunk in either direction, in milliseconds; kept in order. */
  delayMs = 0;

  private constructor(target: string) {
    this.#target = new URL(target);
  }

  /** Starts a proxy in front of a `ws:` or `http:` URL. */
  static async start(target: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** The target's URL with the proxy's port in place of its own. */
  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new TypeError('a proxy listens on a port');
    const url = new URL(this.#target);
    url.port = String(address.port);
    return url.href;
  }

  /** Connections that are open on the near side. */
  get open(): number {
    return this.#pairs.size;
  }

  /** Cuts every connection: both ends see a reset. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  /** Drops every byte of the WebSockets there are; neither end learns of it. */
  stall(): void {
    for (const pair of this.#webSockets()) pair.isStalled = true;
  }

  /** Drops every byte of all connections there are, of whatever kind; neither end learns of it. */
  stallAll(): void {
    for (const pair of this.#pairs) pair.isStalled = true;
  }

  /** Ends the near side of every WebSocket, and leaves the far one as if nothing had happened. */
  halfClose(): void {
    for (const pair of this.#webSockets()) {
      pair.isStalled = true;
      pair.near.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isDown = true;
    this.cut();
    for (const far of this.#orphans) far.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #webSockets(): Pair[] {
    return [...this.#pairs].filter(({ isWebSocket }) => isWebSocket);
  }

  #accept(near: Socket): void {
    this.attempts += 1;
    near.on('error', () => undefined);
    if (this.isDown) {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ host: this.#target.hostname, port: Number(this.#target.port) });
    const pair: Pair = { near, far, isStalled: false, isWebSocket: false };
    this.#pairs.add(pair);
    this.#pass(pair, near, far);
    this.#pass(pair, far, near);
  }

  #pass(pair: Pair, from: Socket, to: Socket): void {
    from.on('data', (chunk: Buffer) => {
      if (from === pair.near && /^upgrade: websocket/imu.test(chunk.toString('latin1')))
        pair.isWebSocket = true;
      const write = (): void => {
        if (!pair.isStalled && !to.destroyed) to.write(chunk);
      };
      if (this.delayMs === 0) write();
      else setTimeout(write, this.delayMs);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      if (from === pair.near || !pair.isStalled) this.#pairs.delete(pair);
      this.#orphans.delete(from);
      if (!pair.isStalled) to.destroy();
      else if (from === pair.near) this.#orphans.add(to);
    });
  }
}
