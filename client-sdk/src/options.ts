import type { Credentials } from '@remotes-hub/protocol';
import {
  MAX_CALL_TIMEOUT_MS,
  MAX_INSTANCE_ID_LENGTH,
  MAX_NAME_LENGTH,
  MAX_PASSWORD_LENGTH,
  MAX_TOKEN_LENGTH,
  MAX_USER_ID_LENGTH,
  MIN_INSTANCE_ID_LENGTH,
} from '@remotes-hub/protocol/limits';
import { defaultWebSocket } from '#socket';
import type { SocketConstructor } from './socket.js';

/** Options of `connect`, beside the credentials. */
export interface ConnectionOptions {
  /**
   * A random string of this client's own, kept secret, 16 to 128 characters: an earlier session of the same
   * user with the same one is closed, so that a client is never locked out by its own ghost.
   * @throws {RangeError} from `connect()` when its length is out of range
   * @default none
   */
  readonly instanceId?: string;
  /**
   * How long `connect` waits for the socket and the login together, in milliseconds: an integer from 1 to 600 000.
   * @throws {RangeError} from `connect()` when out of range
   * @default 10 000
   */
  readonly connectTimeoutMs?: number;
  /** Gives up a `connect` that has not ended; later it does nothing. @default none */
  readonly signal?: AbortSignal;
  /**
   * The WebSocket to connect with.
   * @default the page's own in browsers, that of `ws` in Node
   */
  readonly WebSocket?: SocketConstructor;
}

/** What `connect` takes: `{token}` or `{username, password}`, with options. */
export type ConnectOptions = Credentials & ConnectionOptions;

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
  readonly credentials: Credentials;
  readonly instanceId: string | undefined;
  readonly connectTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly WebSocket: SocketConstructor;
}

/** Parses what `connect` is given. @throws {TypeError | RangeError} naming the field, never its value */
export function parseConnectOptions(url: string | URL, options: ConnectOptions): ConnectSettings {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('options: expected {token} or {username, password}');
  }
  const { instanceId, connectTimeoutMs = 10_000, signal, WebSocket = defaultWebSocket() } = options;
  if (instanceId !== undefined) {
    checkText(instanceId, 'instanceId', MIN_INSTANCE_ID_LENGTH, MAX_INSTANCE_ID_LENGTH);
  }
  checkInteger(connectTimeoutMs, 'connectTimeoutMs', 1, 600_000);
  if (typeof WebSocket !== 'function') {
    throw new TypeError('WebSocket: expected a constructor; there is no global one here');
  }
  return {
    url: parseUrl(url),
    credentials: parseCredentials(options),
    instanceId,
    connectTimeoutMs,
    signal: checkSignal(signal),
    WebSocket,
  };
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

/** Picks the credentials. @throws {TypeError | RangeError} */
export function parseCredentials(options: Credentials): Credentials {
  const named = ['token', 'username', 'password'].filter((name) => Object.hasOwn(options, name)).join(' ');
  if ('token' in options && named === 'token') {
    return { token: checkText(options.token, 'token', 1, MAX_TOKEN_LENGTH) };
  }
  if ('username' in options && named === 'username password') {
    const { username, password } = options;
    return {
      username: checkText(username, 'username', 1, MAX_USER_ID_LENGTH),
      password: checkText(password, 'password', 1, MAX_PASSWORD_LENGTH),
    };
  }
  throw new TypeError('credentials: expected either {token} or {username, password}');
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

/** Checks the name of a remote or a function. @throws {TypeError | RangeError} */
export function checkName(value: unknown, field: string): string {
  return checkText(value, field, 1, MAX_NAME_LENGTH);
}

/** Checks a string and its length in UTF-16 code units. @throws {TypeError | RangeError} */
export function checkText(value: unknown, field: string, minLength: number, maxLength: number): string {
  if (typeof value !== 'string') throw new TypeError(`${field}: expected a string`);
  if (value.length < minLength || value.length > maxLength) {
    throw new RangeError(`${field}: expected ${minLength} to ${maxLength} characters, got ${value.length}`);
  }
  return value;
}

/** Checks an integer and its range. @throws {TypeError | RangeError} */
export function checkInteger(value: unknown, field: string, min: number, max: number): number {
  if (typeof value !== 'number') throw new TypeError(`${field}: expected a number`);
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new RangeError(`${field}: expected an integer from ${min} to ${max}, got ${value}`);
  }
  return value;
}

function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  // Not `instanceof`: a page may pass the signal of another frame.
  const isSignal = typeof signal === 'object' && signal !== null && 'aborted' in signal;
  if (!isSignal) throw new TypeError('signal: expected an AbortSignal');
  return signal;
}

/** Checks a close code and reason of our own. @throws {TypeError | RangeError} as WebSocket allows them */
export function checkClose(code: number, reason: string): void {
  if (code !== 1000) {
    checkInteger(code, 'code (1000, or)', 3_000, 4_999);
  }
  checkText(reason, 'reason', 0, 123);
  if (new TextEncoder().encode(reason).byteLength > 123) {
    throw new RangeError('reason: expected at most 123 bytes of UTF-8');
  }
}
