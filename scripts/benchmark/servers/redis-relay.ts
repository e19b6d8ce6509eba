import { Redis } from 'ioredis';
import { WebSocketServer, type WebSocket } from 'ws';
import { ownNodeStart } from '../node-start.js';
import { announce } from './instruments.js';

interface Called {
  remotename: string;
  function: string;
  args: unknown;
}

interface Relayed {
  action?: string;
  nonce?: unknown;
  requestId?: string;
  result?: unknown;
  body?: Called;
}

/** Between the nodes: a call, or without `body` its result. `id` is the calling node's. */
interface Published {
  id: number;
  body?: Called;
  result?: unknown;
}

/**
 * One of two bare relays on `ws`, each of which subscribes to a channel of its own: every call is published to the
 * other node, and its result comes back the same way. It parses and writes JSON and does nothing else.
 */
export async function relayOverRedis(publisherOptions: { enableAutoPipelining: boolean }): Promise<void> {
  const start = ownNodeStart();
  if (start === undefined) throw new Error('this is one of two nodes');
  const publisher = new Redis(start.redisUrl, publisherOptions);
  const subscriber = new Redis(start.redisUrl);
  await subscriber.subscribe(`node-${start.node}`);

  const serving = new Map<string, WebSocket>();
  const called = new Map<number, { caller: WebSocket; nonce: unknown }>(); // by callers of this node
  const served = new Map<string, number>(); // by clients of this node
  let calls = 0;
  const publish = (message: Published): void =>
    void publisher.publish(`node-${3 - start.node}`, JSON.stringify(message));

  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false }, () => {
    const address = server.address();
    if (typeof address === 'object' && address !== null) announce({ url: `ws://127.0.0.1:${address.port}` });
  });

  server.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      const { action, nonce, requestId, result, body } = JSON.parse(data.toString()) as Relayed;
      if (action === 'remote-connect' && body) {
        serving.set(body.remotename, socket);
        socket.send(JSON.stringify({ message: 'remote connected', nonce }));
      } else if (action === 'remote-call' && body) {
        const id = calls++;
        called.set(id, { caller: socket, nonce });
        publish({ id, body });
      } else if (action === 'remote-call-result' && requestId !== undefined) {
        const id = served.get(requestId) ?? 0;
        served.delete(requestId);
        publish({ id, result });
      }
    });
  });

  subscriber.on('message', (_channel, text) => {
    const { id, body, result } = JSON.parse(text) as Published;
    if (body === undefined) {
      const call = called.get(id);
      called.delete(id);
      call?.caller.send(JSON.stringify({ result, nonce: call.nonce }));
    } else {
      const { remotename, function: name, args } = body;
      const requestId = `${remotename}#${id}`;
      served.set(requestId, id);
      const call = { action: 'remote-call', requestId, function: name, args };
      serving.get(remotename)?.send(JSON.stringify(call));
    }
  });
}
