import {
  MAX_CALL_TIMEOUT_MS,
  MAX_INSTANCE_ID_LENGTH,
  MIN_INSTANCE_ID_LENGTH,
} from '@remotes-hub/protocol/limits';
import { defaultWebSocket } from '#socket';
import { checkInteger, checkSignal, checkText } from './checks.js';
import { parseCredentials, type ConnectCredentials } from './credentials.js';
import type { ReconnectOptions } from './reconnect.js';
import type { SocketConstructor } from './socket.js';

/** Options of `connect`, beside the credentials. */
export interface ConnectionOptions {
  /**
   * A random string of this client's own, kept secret, 16 to 128 characters: an earlier session of the same
   * user with the same one is closed, so that a client is never locked out by its own ghost.
   * @throws {RangeError} from `connect()` when its length is out of range
   * @default a random one; in a page it is kept for its reload, but no duplicate of the tab gets it
   */
  readonly instanceId?: string;
  /**
   * How long `connect` waits for the socket and the login together, in milliseconds: an integer from 1 to 600 000.
   * @throws {RangeError} from `connect()` when out of range
   * @default 10 000
   */
  readonly connectTimeoutMs?: number;
  /** Whether and when a lost connection is opened anew; `false`: never. @default { delayMs: 5 000, maxDelayMs: 30 000 } */
  readonly reconnect?: false | ReconnectOptions;
  /**
   * Silence of the hub after which it is asked for a sign of life, in milliseconds: an integer from 1 000 to 600 000.
   * Below 30 000 it keeps a service worker awake.
   * @default 25 000
   */
  readonly livenessMs?: number;
  /** Gives up a `connect` that has not ended; later it does nothing. @default none */
  readonly signal?: AbortSignal;
  /**
   * The WebSocket to connect with.
   * @default the page's own in browsers, that of `ws` in Node
   */
  readonly WebSocket?: SocketConstructor;
}

/** What `connect` takes: `{token}` or `{username, password}`, with options. A token may be a function that gives it. */
export type ConnectOptions = ConnectCredentials & ConnectionOptions;

/** Options of one call. */
export interface CallOptions {
  /**
   * How long the hub waits for the result, in milliseconds: an integer from 1 to 600 000. Each progress
   * starts it anew, 600 000 ms in all.
   * @throws {RangeError} when out of range
   * @default the function spec's, else 30 000
   */
  readonly timeoutMs?: number;
  /** Cancels the call: it fails at once with `call-cancelled`, and its handler's `signal` aborts. @default none */
  readonly signal?: AbortSignal;
  /** Told each progress that the handler reports; what it throws goes to the console. @default none */
  readonly onProgress?: (progress: unknown) => void;
  /**
   * Where the call belongs in a trace, as W3C Trace Context writes it; a handler's context has that of its call.
   * A hub ignores one that is malformed.
   * @default none
   * @see README.md, "Traces"
   */
  readonly traceparent?: string | undefined;
  /** What belongs to `traceparent`; at most 512 characters. @default none */
  readonly tracestate?: string | undefined;
}

/** How a remote is served. */
export interface ServeOptions {
  /**
   * How long calls in flight wait for this client to come back when its connection is lost, and to answer them, in
   * milliseconds: an integer from 0 to 30 000. With 0 they fail at once.
   * @default 0
   */
  readonly resumeMs?: number;
}

/** How a remote is disconnected. */
export interface DisconnectOptions {
  /** Calls in flight may finish and only new ones are refused; without it they fail at once. @default false */
  readonly drain?: boolean;
}

/** How the functions of a remote are judged. */
export interface LintOptions {
  /** The prefix that prompts will give their names, as in `options.remotes`. @default '' */
  readonly prefix?: string;
}

/** The parsed options of `connect`. */
export interface ConnectSettings {
  readonly url: string;
  readonly credentials: ConnectCredentials;
  readonly instanceId: string | undefined;
  readonly connectTimeoutMs: number;
  readonly livenessMs: number;
  readonly reconnect: Required<ReconnectOptions> | undefined;
  readonly signal: AbortSignal | undefined;
  readonly WebSocket: SocketConstructor;
}

/** Parses what `connect` is given. @throws {TypeError | RangeError} naming the field, never its value */
export function parseConnectOptions(url: string | URL, options: ConnectOptions): ConnectSettings {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('options: expected {token} or {username, password}');
  }
  const { instanceId, connectTimeoutMs = 10_000, livenessMs = 25_000, reconnect = {} } = options;
  const { signal, WebSocket = defaultWebSocket() } = options;
  if (instanceId !== undefined) {
    checkText(instanceId, 'instanceId', MIN_INSTANCE_ID_LENGTH, MAX_INSTANCE_ID_LENGTH);
  }
  checkInteger(connectTimeoutMs, 'connectTimeoutMs', 1, 600_000);
  checkInteger(livenessMs, 'livenessMs', 1_000, 600_000);
  if (typeof WebSocket !== 'function') {
    throw new TypeError('WebSocket: expected a constructor; there is no global one here');
  }
  return {
    url: parseUrl(url),
    credentials: parseCredentials(options),
    instanceId,
    connectTimeoutMs,
    livenessMs,
    reconnect: reconnect === false ? undefined : parseReconnect(reconnect),
    signal: checkSignal(signal),
    WebSocket,
  };
}

function parseReconnect({
  delayMs = 5_000,
  maxDelayMs = 30_000,
}: ReconnectOptions): Required<ReconnectOptions> {
  checkInteger(delayMs, 'reconnect.delayMs', 1, 60_000);
  checkInteger(maxDelayMs, 'reconnect.maxDelayMs', 1, 60_000);
  return { delayMs, maxDelayMs };
}

/** `http` and `https` become `ws` and `wss`; an address without a path gets `/ws`, where a hub listens by default. */
function parseUrl(url: string | URL): string {
  if (!URL.canParse(String(url))) throw new TypeError('url: expected an absolute ws(s):// or http(s):// URL');
  const parsed = new URL(String(url).replace(/^http(s?):/iu, 'ws$1:'));
  if (parsed.protocol !== 'ws:' && parsed.protocol !== 'wss:') {
    throw new TypeError(`url: expected ws(s):// or http(s)://, received ${parsed.protocol}//`);
  }
  if (parsed.pathname === '/') parsed.pathname = '/ws';
  if (parsed.username !== '' || parsed.password !== '') {
    throw new TypeError('url: credentials belong into the options, not into the URL');
  }
  if (parsed.hash !== '') throw new TypeError('url: a fragment (#…) is not allowed');
  return parsed.href;
}

/** Checks the options of a call. @throws {TypeError | RangeError} naming the field */
export function parseCallOptions(options: CallOptions): CallOptions {
  if (options.timeoutMs !== undefined) {
    checkInteger(options.timeoutMs, 'timeoutMs', 1, MAX_CALL_TIMEOUT_MS);
  }
  checkSignal(options.signal);
  if (options.onProgress !== undefined && typeof options.onProgress !== 'function') {
    throw new TypeError('onProgress: expected a function');
  }
  return options;
}
