/** Clients of the hub on `@remotes-hub/client`. */
import { connect } from '@remotes-hub/client';
import { echoSpec } from '../payload.js';
import type { Access, Adapter } from './adapter.js';
import { work } from './worker.js';

const open = async ({ url, token }: Access) => connect(url, { token, reconnect: false });

const adapter: Adapter = {
  serve: async (access) => {
    const hub = await open(access);
    const { description, parameters } = echoSpec;
    await hub.serve('bench', { echo: { description, parameters, handler: (args) => args } });
    return { close: () => void hub.close() };
  },
  caller: async (access) => {
    const hub = await open(access);
    return {
      call: async (args) => hub.call('bench', 'echo', args),
      close: () => void hub.close(),
    };
  },
  idle: async (access) => {
    const hub = await open(access);
    return { close: () => void hub.close() };
  },
};

work(adapter);
