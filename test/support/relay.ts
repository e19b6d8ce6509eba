import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A TCP relay in front of a hub. */
export interface Relay extends AsyncDisposable {
  /** The hub's URL with the relay's port in place of its own. */
  readonly url: string;
  /** Drops every byte in both directions from now on; neither end learns of it. */
  drop(): void;
}

/** Starts a relay in front of a `ws:` or `http:` URL. */
export async function startRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isDropping = false;
  const pass = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.on('data', (chunk) => {
      if (!isDropping) to.write(chunk);
    });
    from.on('close', () => {
      sockets.delete(from);
      if (!isDropping) to.destroy();
    });
    from.on('error', () => undefined);
  };
  const server = createServer((near) => {
    const far = connect({ host: hostname, port: Number(port) });
    pass(near, far);
    pass(far, near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a relay listens on a port');
  const url = new URL(target);
  url.port = String(address.port);
  return {
    url: url.href,
    drop: () => {
      isDropping = true;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
