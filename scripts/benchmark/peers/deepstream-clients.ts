/** Clients of deepstream. */
import deepstream, { type Client } from '@deepstream/client';
import type { Access, Adapter } from '../clients/adapter.js';
import { work } from '../clients/worker.js';

async function open({ url }: Access): Promise<Client> {
  const client = new deepstream.DeepstreamClient(url, { maxReconnectAttempts: 0, subscriptionInterval: 0 });
  await client.login();
  return client;
}

/** Waits until the server knows what was provided or subscribed before: it answers one client in order. */
async function settle(client: Client): Promise<void> {
  await client.presence.getAll();
}

const event = 'something happened to the remote bench-events';

const adapter: Adapter = {
  serve: async (access) => {
    const client = await open(access);
    client.rpc.provide('echo', (data, response) => response.send(data));
    await settle(client);
    return client;
  },
  caller: async (access) => {
    const client = await open(access);
    return { call: async (args) => client.rpc.make('echo', args), close: () => client.close() };
  },
  idle: open,
  // a publisher gets its own event without the server: one delivery of all is free
  fanOut: async (access, received) => {
    const client = await open(access);
    client.event.subscribe('event', (data) => received(data === event));
    await settle(client);
    return { publish: () => client.event.emit('event', event), close: () => client.close() };
  },
};

work(adapter);
