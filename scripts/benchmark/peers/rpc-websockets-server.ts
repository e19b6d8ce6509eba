/**
 * rpc-websockets: JSON-RPC 2.0. Its server cannot call a client, so calls are routed as an event to the serving
 * client, which answers by a notification.
 */
import { Server } from 'rpc-websockets';
import { announce } from '../servers/instruments.js';

interface Call {
  readonly remotename: string;
  readonly functionName: string;
  readonly args: unknown;
}

interface Answer {
  readonly id: number;
  readonly result: unknown;
}

const server = new Server({ port: 0, host: '127.0.0.1' });
const pending = new Map<number, (result: unknown) => void>();
let calls = 0;

server.register('serve', ({ remotename }: { remotename: string }) => {
  server.event(`call:${remotename}`);
  return true;
});
server.register(
  'call',
  async ({ remotename, functionName, args }: Call) =>
    new Promise((resolve) => {
      const id = calls++;
      pending.set(id, resolve);
      server.emit(`call:${remotename}`, { id, functionName, args });
    }),
);
server.register('answer', ({ id, result }: Answer) => {
  pending.get(id)?.(result);
  pending.delete(id);
});
server.event('event');
server.register('publish', ({ event }: { event: string }) => void server.emit('event', event));

server.on('listening', () => {
  const address = server.wss.address();
  if (typeof address === 'object' && address !== null) announce({ url: `ws://127.0.0.1:${address.port}` });
});
