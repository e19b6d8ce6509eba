/** Socket.IO: calls and their routing by acknowledgements. */
import { createServer } from 'node:http';
import { Server, type Socket } from 'socket.io';
import { announce } from '../servers/instruments.js';

type Acknowledge = (result: unknown) => void;

const http = createServer();
const io = new Server(http, { maxHttpBufferSize: 4 * 1_024 * 1_024, transports: ['websocket'] });
const serving = new Map<string, Socket>();

io.on('connection', (socket) => {
  socket.on('serve', (remotename: string, done: Acknowledge) => {
    serving.set(remotename, socket);
    done(true);
  });
  socket.on('call', (remotename: string, functionName: string, args: unknown, reply: Acknowledge) => {
    const provider = serving.get(remotename);
    if (provider === undefined) reply({ error: 'not connected' });
    else void provider.emitWithAck('call', functionName, args).then(reply);
  });
  socket.on('publish', (event: unknown) => void io.emit('event', event));
});

http.listen(0, '127.0.0.1', () => {
  const address = http.address();
  if (typeof address === 'object' && address !== null) announce({ url: `http://127.0.0.1:${address.port}` });
});
