import { MAX_MESSAGE_BYTES, SUBPROTOCOL } from '@remotes-hub/protocol/limits';
import type { JsonObject } from '@remotes-hub/protocol';
import { HubError, type Close } from './errors.js';
import { isJsonObject, parseJson } from './json-values.js';
import type { ConnectSettings } from './options.js';
import type { Socket } from './socket.js';

/** How long a close of ours waits for the hub to answer it. */
const CLOSE_GRACE_MS = 2_000;
const OPEN = 1;

/** Opens a socket to a hub. @throws {HubError} it cannot even be tried */
export function openSocket({ WebSocket, url }: Pick<ConnectSettings, 'WebSocket' | 'url'>): Socket {
  try {
    return new WebSocket(url, SUBPROTOCOL);
  } catch (cause) {
    // A page may not connect to ws:// from https://, for one.
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `cannot connect: ${why}`;
    throw new HubError({ code: 'connection-lost', message, cause });
  }
}

/** Who is told what a connection does. Nothing is told after `ended`. */
export interface ConnectionOwner {
  received(message: JsonObject): void;
  ended(close: Close): void;
}

/** One socket, from its opening to its end. Frames that are no JSON objects are ignored. */
export class Connection {
  /** The largest frame that the hub takes; the login reply says it. */
  maxMessageBytes = MAX_MESSAGE_BYTES;
  /** Resolves when the connection has ended, however; never rejects. */
  readonly closed: Promise<Close>;
  /** Resolves when the socket is open, or has ended before. */
  readonly opened: Promise<void>;
  #resolveOpened: () => void = () => undefined;
  #resolveClosed: (close: Close) => void = () => undefined;
  #close: Close | undefined;
  #isClosing = false;
  #graceTimer: ReturnType<typeof setTimeout> | undefined;
  #lastError = '';

  constructor(
    private readonly socket: Socket,
    private readonly owner: ConnectionOwner,
  ) {
    this.opened = new Promise((resolve) => {
      this.#resolveOpened = resolve;
    });
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    // Never removed: what comes after the end is ignored, and `ws` throws an error that nobody listens to.
    socket.addEventListener('open', this.#onOpen);
    socket.addEventListener('message', this.#onMessage);
    socket.addEventListener('close', this.#onClose);
    socket.addEventListener('error', this.#onError);
  }

  /** Whether messages can be sent. */
  get isOpen(): boolean {
    return !this.#isClosing && this.#close === undefined && this.socket.readyState === OPEN;
  }

  /** How it ended, once it has. */
  get ending(): Close | undefined {
    return this.#close;
  }

  /** Sends a frame; `false` when the connection is not open and nothing was sent. */
  send(text: string): boolean {
    if (!this.isOpen) return false;
    this.socket.send(text);
    return true;
  }

  /** Closes with a handshake; cuts the connection when the hub does not answer it within 2 s. */
  close(code: number, reason: string): Promise<Close> {
    if (this.#isClosing || this.#close !== undefined) return this.closed;
    this.#isClosing = true;
    this.socket.close(code, reason);
    this.#graceTimer = setTimeout(
      () => this.cut({ code: 1006, reason: 'the hub did not answer the close' }),
      CLOSE_GRACE_MS,
    );
    return this.closed;
  }

  /** Ends the connection now, without waiting for the hub. */
  cut(close: Close): void {
    if (this.#close !== undefined) return;
    if (this.socket.terminate === undefined) this.socket.close();
    else this.socket.terminate();
    this.#end(close);
  }

  #end(close: Close): void {
    if (this.#close !== undefined) return;
    this.#close = close;
    clearTimeout(this.#graceTimer);
    this.owner.ended(close);
    this.#resolveOpened();
    this.#resolveClosed(close);
  }

  readonly #onOpen = (): void => this.#resolveOpened();

  readonly #onMessage = ({ data }: { readonly data: unknown }): void => {
    const message = parseFrame(data);
    if (message !== undefined && this.#close === undefined) this.owner.received(message);
  };

  readonly #onClose = ({ code, reason }: Close): void =>
    this.#end({ code, reason: reason === '' && code === 1006 ? this.#lastError : reason });

  readonly #onError = (event: object): void => {
    if ('message' in event && typeof event.message === 'string') this.#lastError = event.message;
  };
}

function parseFrame(data: unknown): JsonObject | undefined {
  if (typeof data !== 'string') return undefined;
  try {
    const message = parseJson(data);
    return isJsonObject(message) ? message : undefined;
  } catch {
    return undefined;
  }
}
