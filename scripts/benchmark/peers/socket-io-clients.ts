/** Clients of Socket.IO. */
import { io, type Socket } from 'socket.io-client';
import type { Access, Adapter } from '../clients/adapter.js';
import { work } from '../clients/worker.js';

/** One connection for each client: by default those of one address share one. */
async function open({ url }: Access): Promise<Socket & { close(): void }> {
  const socket = io(url, { transports: ['websocket'], forceNew: true, reconnection: false });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('connect_error', reject);
  });
  return Object.assign(socket, { close: () => void socket.disconnect() });
}

const event = 'something happened to the remote bench-events';

const adapter: Adapter = {
  serve: async (access) => {
    const socket = await open(access);
    socket.on('call', (_functionName: string, args: unknown, reply: (result: unknown) => void) =>
      reply(args),
    );
    await socket.emitWithAck('serve', 'bench');
    return socket;
  },
  caller: async (access) => {
    const socket = await open(access);
    return {
      call: async (args) => socket.emitWithAck('call', 'bench', 'echo', args),
      close: () => socket.close(),
    };
  },
  idle: open,
  fanOut: async (access, received) => {
    const socket = await open(access);
    socket.on('event', (text: unknown) => received(text === event));
    return { publish: () => void socket.emit('publish', event), close: () => socket.close() };
  },
};

work(adapter);
