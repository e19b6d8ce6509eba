import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { SUBPROTOCOL, closeCodes, instanceIdSchema } from '@remotes-hub/protocol';
import { WebSocketServer as WsServer, type Server as ServerOf, type ServerOptions } from 'ws';
import type { Logger } from '../observability/logger.js';
import type { TrafficCounts } from '../observability/metrics.js';
import { AuthenticationError, type Authenticator, type Identity } from '../authentication/authenticate.js';
import type { Soon } from '../soon.js';
import { readAuthorization } from './authorization-header.js';
import type { AllowedOrigins } from './allowed-origins.js';
import type { ClientAddresses } from './client-addresses.js';
import { Connection, type ConnectionLimits, type Receiver } from './connection.js';
import { HubSocket } from './hub-socket.js';
import { refuseUpgrade, type UpgradeRefusal } from './refuse-upgrade.js';
import { TextFrames } from './text-frames.js';

/** Time for a peer to answer a close frame before it is cut off, in milliseconds. */
const CLOSE_TIMEOUT_MS = 5_000;

/** Bytes that a connection may send before it has logged in. */
const MAX_BYTES_BEFORE_LOGIN = 256 * 1024;

const shuttingDown: UpgradeRefusal = {
  status: 503,
  error: 'the hub is shutting down',
  code: 'shutting-down',
};
const loginUnavailable: UpgradeRefusal = {
  status: 503,
  error: 'the login cannot be checked at the moment',
  code: 'internal-error',
};
const badInstanceId: UpgradeRefusal = {
  status: 400,
  error: 'Remotes-Instance-Id: expected 16 to 128 characters',
  code: 'invalid-body',
};

/** Who has connected, and how. */
export interface Newcomer {
  readonly peer: Connection;
  readonly address: string;
  readonly speaksV1: boolean;
  /** Set when the upgrade request carried good credentials. */
  readonly identity: Identity | undefined;
  readonly instanceId: string | undefined;
  /** Called at the login: the bound on what may be sent before it no longer holds. */
  readonly loggedIn: () => void;
}

/** An upgrade request, and whose it is. */
interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly address: string;
}

/** Options of the library that are newer than its types. */
interface NewerOptions {
  readonly closeTimeout: number;
  readonly maxPendingAutoPongs: number;
}

/** What the WebSocket server needs from the hub. */
export interface WebSocketServerOptions {
  /** Path of the endpoint. */
  readonly path: string;
  readonly limits: ConnectionLimits & {
    readonly maxMessageBytes: number;
    readonly maxUnauthenticated: number;
    readonly authenticationTimeoutMs: number;
    readonly shutdownTimeoutMs: number;
  };
  readonly allowedOrigins: AllowedOrigins;
  readonly addresses: ClientAddresses;
  readonly authenticator: Authenticator;
  readonly traffic: TrafficCounts;
  readonly log: Logger;
  /** Whether another session fits. */
  readonly hasRoom: () => boolean;
  /** Takes a new connection in. */
  readonly accept: (newcomer: Newcomer) => Receiver;
}

/**
 * The `/ws` endpoint: from an HTTP upgrade to a connection that somebody receives. A refusal is a complete HTTP
 * answer. Credentials in the upgrade request are checked before the handshake.
 */
export class WebSocketServer implements AsyncDisposable {
  readonly #options: WebSocketServerOptions;
  readonly #server: ServerOf<typeof HubSocket>;
  readonly #frames = new TextFrames();
  readonly #connections = new Map<HubSocket, Connection>();
  readonly #attached = new Map<Server, (request: IncomingMessage, socket: Duplex, head: Buffer) => void>();
  /** Upgrades whose login is being checked, each with its deadline. */
  readonly #undecided = new Map<Duplex, NodeJS.Timeout>();
  #isClosing = false;

  constructor(options: WebSocketServerOptions) {
    this.#options = options;
    const serverOptions: ServerOptions<typeof HubSocket> & NewerOptions = {
      WebSocket: HubSocket,
      noServer: true,
      clientTracking: false,
      maxPayload: options.limits.maxMessageBytes,
      perMessageDeflate: false,
      closeTimeout: CLOSE_TIMEOUT_MS,
      maxPendingAutoPongs: 0, // none too many: what a connection may send, and what it has queued, is bounded already
      handleProtocols: (protocols) => (protocols.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    };
    this.#server = new WsServer(serverOptions);
    this.#server.on('wsClientError', ({ message }, socket) =>
      refuseUpgrade(socket, { status: 400, error: message, headers: { 'Sec-WebSocket-Version': '13' } }),
    );
  }

  /**
   * Answers the upgrade requests of an HTTP server.
   * @param sharesUpgrades the server is somebody's own: requests for other paths are left to its other listeners
   */
  attach(server: Server, sharesUpgrades: boolean): void {
    const listener = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
      const isShared = sharesUpgrades && server.listenerCount('upgrade') > 1;
      if (isShared && pathOf(request) !== this.#options.path) return;
      this.#upgrade(request, socket, head);
    };
    this.#attached.set(server, listener);
    server.on('upgrade', listener);
  }

  /** Refuses everybody from now on, with 503, those whose login is being checked too. */
  stopAccepting(): void {
    this.#isClosing = true;
    for (const socket of [...this.#undecided.keys()]) this.#refuse(socket, shuttingDown);
  }

  /** Closes every connection with 1001 and cuts off those that have not closed in time. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stopAccepting();
    const closed = [...this.#connections].map(async ([socket, connection]) => {
      connection.close(closeCodes.goingAway, 'the hub is going away');
      if (socket.readyState !== socket.CLOSED) await once(socket, 'close');
    });
    const timer = setTimeout(() => this.#cutOff(), this.#options.limits.shutdownTimeoutMs);
    await Promise.all(closed);
    clearTimeout(timer);
    for (const [server, listener] of this.#attached) server.off('upgrade', listener);
    this.#attached.clear();
  }

  #cutOff(): void {
    for (const socket of this.#connections.keys()) socket.terminate();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', destroy);
    const refusal = this.#refusal(request);
    if (refusal !== undefined) return refuseUpgrade(socket, refusal);
    const upgrade: Upgrade = { request, socket, head, address: this.#options.addresses.of(request) };
    const identity = this.#identify(upgrade);
    if (!(identity instanceof Promise)) return this.#shakeHands(upgrade, identity);
    const timeoutMs = this.#options.limits.authenticationTimeoutMs;
    this.#undecided.set(
      socket,
      setTimeout(() => this.#refuse(socket, loginUnavailable), timeoutMs),
    );
    identity.then(
      (known) => this.#decide(socket) && this.#shakeHands(upgrade, known),
      (error: unknown) => this.#refuse(socket, this.#describeRefusal(error, upgrade)),
    );
  }

  /** Never throws. */
  #shakeHands(upgrade: Upgrade, identity: Identity | undefined): void {
    const { request, socket, head, address } = upgrade;
    if (socket.destroyed) return;
    socket.cork(); // the answer leaves together with what the session is told first
    let connection: Connection | undefined;
    try {
      this.#server.handleUpgrade(request, socket, head, (webSocket) => {
        connection = this.#opened(webSocket, upgrade, identity);
      });
    } catch (error) {
      this.#options.log.error({ err: error, address }, 'upgrade failed');
      socket.destroy();
    }
    process.nextTick(() => {
      connection?.flush();
      socket.uncork();
    });
  }

  /** Ends the wait for a login. False when it has ended already. */
  #decide(socket: Duplex): boolean {
    clearTimeout(this.#undecided.get(socket));
    return this.#undecided.delete(socket);
  }

  #refuse(socket: Duplex, refusal: UpgradeRefusal): void {
    if (this.#decide(socket)) refuseUpgrade(socket, refusal);
  }

  #refusal(request: IncomingMessage): UpgradeRefusal | undefined {
    if (this.#isClosing) return shuttingDown;
    if (pathOf(request) !== this.#options.path)
      return { status: 404, error: `the WebSocket endpoint is ${this.#options.path}` };
    if (request.headers.upgrade?.toLowerCase() !== 'websocket' || request.method !== 'GET') {
      return { status: 400, error: 'expected a WebSocket upgrade', headers: { Upgrade: 'websocket' } };
    }
    if (request.headers.host === undefined || request.httpVersion !== '1.1')
      return { status: 400, error: 'expected HTTP/1.1 with a header Host' };
    if (!this.#options.allowedOrigins.allows(request))
      return { status: 403, error: 'pages of this origin may not connect' };
    const instanceId = request.headers['remotes-instance-id'];
    if (instanceId !== undefined && !instanceIdSchema.safeParse(instanceId).success) return badInstanceId;
    const isFull =
      this.#undecided.size >= this.#options.limits.maxUnauthenticated || !this.#options.hasRoom();
    return isFull
      ? { status: 503, error: 'the hub is full', code: 'rate-limited', headers: { 'Retry-After': '5' } }
      : undefined;
  }

  /** Never throws: rejects with an {@link AuthenticationError}. */
  #identify({ request, address }: Upgrade): Soon<Identity | undefined> {
    const { authorization } = request.headers;
    if (authorization === undefined) return undefined;
    const credentials = readAuthorization(authorization);
    if (credentials === undefined) {
      const message = 'expected Bearer or Basic credentials';
      return Promise.reject(new AuthenticationError('invalid-credentials', message));
    }
    return this.#options.authenticator.authenticate(credentials, { address });
  }

  #describeRefusal(error: unknown, { address }: Upgrade): UpgradeRefusal {
    if (error instanceof AuthenticationError && error.code !== 'internal-error') {
      return error.code === 'rate-limited'
        ? {
            status: 429,
            error: error.message,
            code: error.code,
            headers: { 'Retry-After': String(Math.ceil((error.retryAfterMs ?? 1_000) / 1_000)) },
          }
        : {
            status: 401,
            error: error.message,
            code: error.code,
            headers: { 'WWW-Authenticate': 'Bearer, Basic realm="remotes-hub"' },
          };
    }
    this.#options.log.error({ err: error, address }, 'upgrade failed');
    return loginUnavailable;
  }

  #opened(socket: HubSocket, upgrade: Upgrade, identity: Identity | undefined): Connection {
    const { request, socket: raw, address } = upgrade;
    const { limits, traffic, log } = this.#options;
    const connection = new Connection({
      socket,
      stream: raw,
      frames: this.#frames,
      limits,
      traffic,
      log,
      onClosed: this.#closed,
    });
    this.#connections.set(socket, connection);
    const loggedIn = identity === undefined ? boundBytes(raw, connection) : nothing;
    const instanceId = request.headers['remotes-instance-id'];
    const receiver = this.#options.accept({
      peer: connection,
      address,
      speaksV1: socket.protocol === SUBPROTOCOL,
      identity,
      instanceId: typeof instanceId === 'string' ? instanceId : undefined,
      loggedIn,
    });
    connection.deliverTo(receiver);
    return connection;
  }

  readonly #closed = (socket: HubSocket): void => {
    this.#connections.delete(socket);
  };
}

/** Closes a connection that sends too much before it has logged in, however it frames it. */
function boundBytes(raw: Duplex, connection: Connection): () => void {
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > MAX_BYTES_BEFORE_LOGIN)
      connection.close(closeCodes.protocolAbuse, 'too much was sent before the login');
  };
  raw.on('data', count);
  return () => raw.off('data', count);
}

/** One function for all: a closure would keep the request for as long as its socket. */
function destroy(this: Duplex): void {
  this.destroy();
}

function nothing(): void {
  // it was never bounded
}

function pathOf(request: IncomingMessage): string {
  const url = (request.url ?? '/').replace(/^https?:\/\/[^/?]*/iu, ''); // RFC 9112, section 3.2.2
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
