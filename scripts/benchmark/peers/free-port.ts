import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port for servers that do not tell which one they chose. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('a server without a port');
  return address.port;
}
