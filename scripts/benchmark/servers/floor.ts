/**
 * The floor: a bare relay on `ws` that parses and writes JSON and does nothing else: no login, no checks, no
 * deadlines, no limits. What a hub or a peer costs is told as a ratio to it.
 */
import { WebSocketServer, type WebSocket } from 'ws';
import { announce } from './instruments.js';

interface Relayed {
  action?: string;
  nonce?: unknown;
  requestId?: string;
  result?: unknown;
  body?: { remotename: string; function: string; args: unknown };
}

const serving = new Map<string, WebSocket>();
const pending = new Map<string, { caller: WebSocket; nonce: unknown }>();
let calls = 0;

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false }, () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) announce({ url: `ws://127.0.0.1:${address.port}` });
});

server.on('connection', (socket) => {
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Relayed;
    if (message.action === 'remote-connect' && message.body) {
      serving.set(message.body.remotename, socket);
      socket.send(JSON.stringify({ message: 'remote connected', nonce: message.nonce }));
    } else if (message.action === 'remote-call' && message.body) {
      const { remotename, function: name, args } = message.body;
      const requestId = `${remotename}#${calls++}`;
      pending.set(requestId, { caller: socket, nonce: message.nonce });
      serving
        .get(remotename)
        ?.send(JSON.stringify({ action: 'remote-call', requestId, function: name, args }));
    } else if (message.action === 'remote-call-result' && message.requestId !== undefined) {
      const call = pending.get(message.requestId);
      pending.delete(message.requestId);
      call?.caller.send(JSON.stringify({ result: message.result, nonce: call.nonce }));
    }
  });
});
