import { HubError, refusedConnection, type Close } from '../errors.js';
import type { Hub } from '../hub.js';
import type { HubStatus } from './hub-context.js';

/** The state of a session now. */
export function statusOf(hub: Hub): HubStatus {
  return { hub, state: hub.state, error: undefined };
}

/** Tells the state of a session now and at every change; the function returned ends that. */
export function followState(hub: Hub, tell: (status: HubStatus) => void): () => void {
  tell(statusOf(hub));
  return hub.on('state', ({ state, close }) => tell({ hub, state, error: toError(close) }));
}

/** A close that this page asked for is no error. */
function toError(close: Close | undefined): HubError | undefined {
  return close === undefined || close.code === 1000 ? undefined : new HubError(refusedConnection(close));
}
