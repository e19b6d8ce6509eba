/** Clients of NATS, over TCP. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Access, Adapter, Closing } from '../clients/adapter.js';
import { work } from '../clients/worker.js';

async function open({ url }: Access): Promise<NatsConnection> {
  return connect({ servers: url, reconnect: false });
}

function closing(nats: NatsConnection): Closing {
  return { close: () => void nats.close() };
}

const event = 'something happened to the remote bench-events';
const timeout = 30_000;

const adapter: Adapter = {
  serve: async (access) => {
    const nats = await open(access);
    nats.subscribe('bench.echo', {
      callback: (error, message) => {
        if (error === null) message.respond(JSON.stringify(message.json()));
      },
    });
    await nats.flush();
    return closing(nats);
  },
  caller: async (access) => {
    const nats = await open(access);
    return {
      ...closing(nats),
      call: async (args) => (await nats.request('bench.echo', JSON.stringify(args), { timeout })).json(),
    };
  },
  idle: async (access) => closing(await open(access)),
  fanOut: async (access, received) => {
    const nats = await open(access);
    nats.subscribe('bench.event', { callback: (_error, message) => received(message.string() === event) });
    await nats.flush();
    return { ...closing(nats), publish: () => nats.publish('bench.event', event) };
  },
};

work(adapter);
