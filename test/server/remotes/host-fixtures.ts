import type { ConnectedHostRemote, HostFunction } from '@remotes-hub/server';
import type { TestHub } from '../../support/hub.js';

/** Serves functions in the hub's own process, for the user u1. */
export function serve(
  hub: TestHub,
  handlers: Record<string, HostFunction['handler']>,
  remotename = 'host',
): ConnectedHostRemote {
  const functions = Object.entries(handlers).map(([name, handler]) => ({ name, handler }));
  return hub.hub.connectRemote({ userId: 'u1', remotename, functions });
}

/** Calls a function of the remote `host` from the hub's own process, for the user u1. */
export async function call(hub: TestHub, name: string, more: object = {}): Promise<unknown> {
  return hub.hub.call({ userId: 'u1', remotename: 'host', function: name, ...more });
}
