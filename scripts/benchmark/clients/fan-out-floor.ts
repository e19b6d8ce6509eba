/** Bare `ws` clients of the floor of fan-out. */
import type { Adapter } from './adapter.js';
import { openSocket } from './envelope-socket.js';
import { work } from './worker.js';

/** As long as an event of the hub. */
const event = JSON.stringify({ action: 'remote-connected', body: { remotename: 'bench-events' } });

const adapter: Pick<Adapter, 'idle' | 'fanOut'> = {
  idle: async (access) => {
    const socket = await openSocket(access);
    return { close: () => socket.terminate() };
  },
  fanOut: async (access, received) => {
    const socket = await openSocket(access);
    socket.on('message', (data: Buffer) => received(data.toString() === event));
    return { publish: () => socket.send(event), close: () => socket.terminate() };
  },
};

work(adapter);
