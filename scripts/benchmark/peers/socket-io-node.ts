/**
 * One of two nodes of Socket.IO, joined by its Redis adapter: who serves a remote joins the room of its name, and a
 * call is an event to that room whose acknowledgement is awaited, on whichever node the room is.
 */
import { createServer } from 'node:http';
import { createAdapter } from '@socket.io/redis-adapter';
import { Redis } from 'ioredis';
import { Server } from 'socket.io';
import { ownNodeStart } from '../node-start.js';
import { announce } from '../servers/instruments.js';

type Acknowledge = (result: unknown) => void;

/** It keeps every acknowledgement for so long, come what may: its documentation's value, not the hub's 30 s. */
const ACKNOWLEDGE_TIMEOUT_MS = 10_000;

// as it comes: with `enableAutoPipelining` 64 calls in flight cost less, one costs more
const publisher = new Redis(ownNodeStart()?.redisUrl ?? '');
const subscriber = publisher.duplicate();
const http = createServer();
const io = new Server(http, {
  maxHttpBufferSize: 4 * 1_024 * 1_024,
  transports: ['websocket'],
  // answers go to the node that asked alone: less to do than by default
  adapter: createAdapter(publisher, subscriber, { publishOnSpecificResponseChannel: true }),
});

io.on('connection', (socket) => {
  socket.on('serve', (remotename: string, done: Acknowledge) => {
    socket.join(remotename);
    done(true);
  });
  socket.on('call', (remotename: string, functionName: string, args: unknown, reply: Acknowledge) => {
    const provider = io.to(remotename).timeout(ACKNOWLEDGE_TIMEOUT_MS);
    void provider.emitWithAck('call', functionName, args).then(([result]) => reply(result));
  });
});

http.listen(0, '127.0.0.1', () => {
  const address = http.address();
  if (typeof address === 'object' && address !== null) announce({ url: `http://127.0.0.1:${address.port}` });
});
