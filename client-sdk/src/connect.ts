import { HubError, type Failure } from './errors.js';
import { HubSession } from './hub-session.js';
import type { Hub } from './hub.js';
import { parseConnectOptions, type ConnectOptions } from './options.js';

/**
 * Opens a session at a hub: connects and logs in. When the connection is lost later, another is opened by itself.
 *
 * @param url `ws://…` or `wss://…`, usually with the path `/ws`
 * @throws {HubError} the hub refused, closed, or did not answer within `connectTimeoutMs`: `code` tells which,
 *   `closeCode` and `reason` what the hub said; `call-cancelled` when `signal` aborted
 * @throws {TypeError | RangeError} an option is wrong
 * @throws what a token function throws
 * @see README.md, "Options"
 */
export async function connect(url: string | URL, options: ConnectOptions): Promise<Hub> {
  const settings = parseConnectOptions(url, options);
  const { signal } = settings;
  if (isAborted(signal)) throw new HubError(aborted(signal));
  const session = new HubSession(settings);
  const onAbort = (): void => session.cut('connecting was cancelled');
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    await session.open();
    return session;
  } catch (error) {
    throw isAborted(signal) ? new HubError(aborted(signal)) : error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function aborted(signal: AbortSignal | undefined): Failure {
  return { code: 'call-cancelled', message: 'connecting was cancelled', cause: signal?.reason };
}
