import { HubError, connect, type Hub } from '@remotes-hub/client';
import type { Command } from 'commander';
import type { Environment } from '../config/load-config.js';
import { CommandError, describeError, exitCodes, usageError } from './exit-codes.js';

/** Where the hub is when nobody says it. */
const STANDARD_URL = 'http://127.0.0.1:7465';

/** The option that every command with a connection has. */
export interface ConnectionOptions {
  /** @default the variable REMOTES_HUB_URL, else {@link STANDARD_URL} */
  readonly url?: string;
}

/** Adds the options of {@link ConnectionOptions}. The token is no option: other users see a command's arguments. */
export function withConnectionOptions(command: Command): Command {
  const description = `the hub, as http(s):// or ws(s):// (default: REMOTES_HUB_URL, else ${STANDARD_URL})`;
  return command.option('--url <url>', description);
}

/**
 * The WebSocket endpoint of a hub: `http` becomes `ws`, and an address without a path gets `/ws`.
 * @throws {CommandError} usage
 */
export function socketUrl(text: string): string {
  const problem = usageError(
    "the hub's URL: expected http(s):// or ws(s):// and a host, such as " + STANDARD_URL,
  );
  if (!URL.canParse(text)) throw problem;
  const url = new URL(text.replace(/^http(s?):/i, 'ws$1:'));
  if (url.protocol !== 'ws:' && url.protocol !== 'wss:') throw problem;
  if (url.username !== '' || url.password !== '') {
    throw usageError("the hub's URL: a token belongs in REMOTES_HUB_TOKEN, not into the URL");
  }
  if (url.pathname === '/') url.pathname = '/ws';
  url.hash = '';
  return url.href;
}

/** The endpoint that the option or the environment names. @throws {CommandError} usage */
export function hubEndpoint({ url }: ConnectionOptions, env: Environment): string {
  return socketUrl(url ?? (env['REMOTES_HUB_URL'] || STANDARD_URL));
}

/**
 * Connects and logs in. A connection that is lost is opened anew only when `reconnect` says so.
 * @throws {CommandError} usage, or unreachable with the reason as its cause
 */
export async function connectToHub(
  options: ConnectionOptions,
  env: Environment,
  signal: AbortSignal,
  { reconnect = false } = {},
): Promise<Hub> {
  const endpoint = hubEndpoint(options, env);
  const token = env['REMOTES_HUB_TOKEN'] ?? '';
  if (token === '') {
    throw new CommandError(exitCodes.unreachable, 'cannot log in: REMOTES_HUB_TOKEN is not set');
  }
  try {
    return await connect(endpoint, { token, signal, ...(!reconnect && { reconnect }) });
  } catch (cause) {
    if (!(cause instanceof HubError)) throw cause;
    throw new CommandError(exitCodes.unreachable, `cannot connect to ${endpoint}: ${describeError(cause)}`, {
      cause,
    });
  }
}

/**
 * Waits for something that the client checks before it sends it: what it finds wrong is wrong usage.
 * @throws {CommandError} usage
 */
export async function checkedByClient<Value>(request: Promise<Value>): Promise<Value> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw usageError(error.message);
    throw error;
  }
}
