/** The floor of fan-out: a bare relay on `ws` that sends one text to each of its sockets when one asks for it. */
import { WebSocketServer } from 'ws';
import { announce } from './instruments.js';

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false }, () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) announce({ url: `ws://127.0.0.1:${address.port}` });
});

server.on('connection', (socket) => {
  socket.on('message', (data: Buffer) => {
    const event = data.toString();
    for (const receiver of server.clients) receiver.send(event);
  });
});
