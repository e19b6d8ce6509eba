import { HubError } from './errors.js';
import type { FunctionDefinitions } from './functions.js';
import type { Hub, ServedRemote } from './hub.js';
import type { ServeOptions } from './options.js';

/** What of a session is needed here. */
type ServingHub = Pick<Hub, 'serve' | 'on' | 'state' | 'isOpen'>;

/**
 * Serves a remote, however often the connection is lost before the hub has answered. Gives `undefined` when it is no
 * longer wanted.
 * @throws {HubError} refused, or the session has ended
 */
export async function serveLasting<Schemas>(
  hub: ServingHub,
  remotename: string,
  functions: FunctionDefinitions<Schemas>,
  options: ServeOptions,
  isWanted: () => boolean,
): Promise<ServedRemote | undefined> {
  while (isWanted()) {
    try {
      return await hub.serve(remotename, functions, options);
    } catch (error) {
      const isLost = error instanceof HubError && error.code === 'connection-lost';
      if (!isLost || hub.state === 'closed') throw error;
      await openedOrClosed(hub);
    }
  }
  return undefined;
}

async function openedOrClosed(hub: ServingHub): Promise<void> {
  if (hub.isOpen || hub.state === 'closed') return;
  await new Promise<void>((resolve) => {
    const remove = hub.on('state', ({ state }) => {
      if (state === 'reconnecting') return;
      remove();
      resolve();
    });
  });
}
