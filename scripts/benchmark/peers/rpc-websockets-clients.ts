/** Clients of rpc-websockets. */
import { Client } from 'rpc-websockets';
import type { Access, Adapter } from '../clients/adapter.js';
import { work } from '../clients/worker.js';

async function open({ url }: Access): Promise<Client> {
  const client = new Client(url, { reconnect: false });
  await new Promise<void>((resolve, reject) => {
    client.once('open', resolve);
    client.once('error', reject);
  });
  return client;
}

interface ForwardedCall {
  readonly id: number;
  readonly args: unknown;
}

const event = 'something happened to the remote bench-events';

const adapter: Adapter = {
  serve: async (access) => {
    const client = await open(access);
    await client.call('serve', { remotename: 'bench' });
    client.on('call:bench', ({ id, args }: ForwardedCall) => {
      void client.notify('answer', { id, result: args });
    });
    await client.subscribe('call:bench');
    return client;
  },
  caller: async (access) => {
    const client = await open(access);
    return {
      call: async (args) => client.call('call', { remotename: 'bench', functionName: 'echo', args }),
      close: () => client.close(),
    };
  },
  idle: open,
  fanOut: async (access, received) => {
    const client = await open(access);
    client.on('event', (text: unknown) => received(text === event));
    await client.subscribe('event');
    return { publish: () => void client.notify('publish', { event }), close: () => client.close() };
  },
};

work(adapter);
