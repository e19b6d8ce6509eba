/** Bare `ws` clients of the floor and of the hub. */
import { echoSpec } from '../payload.js';
import type { Adapter } from './adapter.js';
import { EnvelopeSocket, openSocket } from './envelope-socket.js';
import { EventSocket } from './event-socket.js';
import { work } from './worker.js';

const adapter: Adapter = {
  serve: async (access) => {
    const socket = await EnvelopeSocket.open(access);
    socket.serve();
    await socket.connectRemote('bench', [echoSpec]);
    return socket;
  },
  caller: async (access) => {
    const socket = await EnvelopeSocket.open(access);
    return {
      call: async (args) => {
        const body = { remotename: 'bench', function: 'echo', args };
        return (await socket.request('remote-call', body)).result;
      },
      close: () => socket.close(),
    };
  },
  idle: async (access) => {
    const socket = await openSocket(access);
    return { close: () => socket.terminate() };
  },
  fanOut: async (access, received) => {
    const socket = await openSocket(access);
    return new EventSocket(socket, received);
  },
};

work(adapter);
