import { HubError, refusedConnection, type Failure } from './errors.js';
import { HubSession } from './hub-session.js';
import type { Hub } from './hub.js';
import { parseConnectOptions, type ConnectOptions, type ConnectSettings } from './options.js';

/**
 * Opens a connection to a hub and logs in.
 *
 * @param url `ws://…` or `wss://…`, usually with the path `/ws`
 * @throws {HubError} the hub refused, closed, or did not answer within `connectTimeoutMs`: `code` tells which,
 *   `closeCode` and `reason` what the hub said; `call-cancelled` when `signal` aborted
 * @throws {TypeError | RangeError} an option is wrong
 * @see README.md, "Options"
 */
export async function connect(url: string | URL, options: ConnectOptions): Promise<Hub> {
  const settings = parseConnectOptions(url, options);
  const { credentials, instanceId, connectTimeoutMs, signal } = settings;
  if (signal?.aborted === true) throw new HubError(aborted(signal));

  const session = openSession(settings);
  let failure: Failure | undefined;
  const giveUp = (why: Failure): void => {
    failure = why;
    session.cut(why.message);
  };
  const onAbort = (): void => giveUp(aborted(signal));
  const timer = setTimeout(() => giveUp(unanswered(connectTimeoutMs)), connectTimeoutMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    // The deadline of `connect` is the one that counts.
    await session.logIn(credentials, instanceId, connectTimeoutMs + 60_000);
    return session;
  } catch (error) {
    if (failure !== undefined) throw new HubError(failure);
    if (session.ending !== undefined) throw new HubError(refusedConnection(session.ending));
    session.close().catch(() => undefined); // its end is nobody's concern: the refusal is
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

function openSession(settings: ConnectSettings): HubSession {
  try {
    return new HubSession(settings);
  } catch (cause) {
    // A page may not connect to ws:// from https://, for one.
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new HubError({ code: 'connection-lost', message: `no connection could be opened: ${why}`, cause });
  }
}

function aborted(signal: AbortSignal | undefined): Failure {
  return { code: 'call-cancelled', message: 'connecting was cancelled', cause: signal?.reason };
}

function unanswered(connectTimeoutMs: number): Failure {
  return { code: 'connection-lost', message: `the hub did not answer within ${connectTimeoutMs} ms` };
}
