import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { isIPv6 } from 'node:net';

/** Room for a token of the longest kind in a header, in bytes. */
const MAX_HEADER_BYTES = 32 * 1024;

/** Where a hub listens. */
export interface ListeningAddress {
  /** `http://HOST:PORT`; the WebSocket endpoint is under the same host and port. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
}

/** The hub's own HTTP server. */
export class HttpListener implements AsyncDisposable {
  readonly server: Server;

  constructor(listener: RequestListener) {
    const timeouts = { headersTimeout: 10_000, requestTimeout: 15_000, keepAliveTimeout: 5_000 };
    this.server = createServer(
      { ...timeouts, connectionsCheckingInterval: 5_000, maxHeaderSize: MAX_HEADER_BYTES },
      listener,
    );
  }

  /** @throws the system's error when host and port cannot be had */
  async listen(host: string, port: number): Promise<ListeningAddress> {
    this.server.listen(port, host);
    await once(this.server, 'listening');
    const address = this.server.address();
    if (address === null || typeof address === 'string')
      throw new TypeError('a hub listens on a host and a port');
    const shownHost = isIPv6(host) ? `[${host}]` : host;
    return { url: `http://${shownHost}:${address.port}`, host, port: address.port };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}
