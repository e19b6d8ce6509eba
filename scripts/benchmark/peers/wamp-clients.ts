/** Clients of a WAMP router. */
import autobahn, { type Connection, type Session } from 'autobahn';
import type { Access, Adapter } from '../clients/adapter.js';
import { work } from '../clients/worker.js';

async function open({ url }: Access): Promise<{ session: Session; close(): void }> {
  const connection: Connection = new autobahn.Connection({ url, realm: 'bench', max_retries: 0 });
  const session = await new Promise<Session>((resolve, reject) => {
    const onclose = (reason: string): boolean => {
      reject(new Error(`the connection was closed: ${reason}`));
      return true; // it is not opened again
    };
    Object.assign(connection, { onopen: resolve, onclose });
    connection.open();
  });
  return { session, close: () => connection.close() };
}

const event = 'something happened to the remote bench-events';

const adapter: Adapter = {
  serve: async (access) => {
    const client = await open(access);
    await client.session.register('bench.echo', ([args]) => args);
    return client;
  },
  caller: async (access) => {
    const client = await open(access);
    return {
      call: async (args) => client.session.call('bench.echo', [args]),
      close: () => client.close(),
    };
  },
  idle: open,
  fanOut: async (access, received) => {
    const client = await open(access);
    await client.session.subscribe('bench.event', ([text]) => received(text === event));
    return {
      publish: () => void client.session.publish('bench.event', [event], {}, { exclude_me: false }),
      close: () => client.close(),
    };
  },
};

work(adapter);
