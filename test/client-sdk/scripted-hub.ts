import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import {
  connect,
  type ConnectionOptions,
  type FunctionDefinitions,
  type Hub,
  type JsonObject,
  type JsonValue,
} from '@remotes-hub/client';
import { isJsonObject, parseJson } from '../../client-sdk/src/json-values.js';

/** What a scripted hub does with a new connection before the test takes over. */
export type Greeting = (socket: WebSocket) => void;

/**
 * The hub's side of one connection, played by a test: it takes the frames of the client in order and sends what
 * the test says. It knows nothing of remotes; it is there to answer wrongly, late, twice or never.
 */
export class ScriptedHub implements AsyncDisposable {
  readonly #frames: JsonObject[] = [];
  #waiting: (() => void)[] = [];
  #socket: WebSocket | undefined;

  private constructor(
    private readonly server: WebSocketServer,
    greeting: Greeting | undefined,
  ) {
    server.on('connection', (socket) => {
      this.#socket = socket;
      socket.on('message', (data: Buffer) => this.#received(data.toString()));
      socket.on('error', () => undefined);
      greeting?.(socket);
    });
  }

  static async start(greeting?: Greeting): Promise<ScriptedHub> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'remotes.v1' });
    await once(server, 'listening');
    return new ScriptedHub(server, greeting);
  }

  get url(): string {
    const address: AddressInfo | string | null = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the server does not listen');
    return `ws://127.0.0.1:${address.port}/ws`;
  }

  get socket(): WebSocket {
    if (this.#socket === undefined) throw new Error('no client has connected');
    return this.#socket;
  }

  /** Frames that came and were not taken. */
  get untaken(): readonly JsonObject[] {
    return this.#frames;
  }

  /** Takes the next frame of the client; waits for it. */
  async next(): Promise<JsonObject> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) return frame;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Takes the next frame and answers it with its nonce. */
  async answer(reply: object): Promise<JsonObject> {
    const request = await this.next();
    this.send({ ...reply, nonce: request['nonce'] });
    return request;
  }

  /** Forwards a call as a hub does, and takes the next frame: the answer. */
  async call(requestId: string, functionName: string, args: JsonValue = {}): Promise<JsonObject> {
    this.send({ action: 'remote-call', requestId, function: functionName, args, timeoutMs: 30_000 });
    return this.next();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.server.clients) socket.terminate();
    this.server.close();
    await once(this.server, 'close');
  }

  #received(text: string): void {
    const frame = parseJson(text);
    if (!isJsonObject(frame)) throw new Error(`the client sent no object: ${text}`);
    this.#frames.push(frame);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

/** The reply to a good login. */
export const authenticated = {
  message: 'authenticated',
  userId: 'u1',
  sessionId: 's1',
  maxMessageBytes: 10_000,
};

/** A scripted hub with a client that has logged in. */
export class LoggedIn implements AsyncDisposable {
  private constructor(
    readonly hub: ScriptedHub,
    readonly client: Hub,
  ) {}

  /** One that is not to come back by itself, unless told otherwise. */
  static async start(
    login: object = authenticated,
    options: ConnectionOptions = { reconnect: false },
  ): Promise<LoggedIn> {
    const hub = await ScriptedHub.start();
    const connecting = connect(hub.url, { token: 'secret', ...options });
    await hub.answer(login);
    return new LoggedIn(hub, await connecting);
  }

  /** Serves functions as remote `x` and plays the hub's part in it. */
  async serve<Schemas>(functions: FunctionDefinitions<Schemas>, remotename = 'x'): Promise<JsonObject> {
    const serving = this.client.serve(remotename, functions);
    const request = await this.hub.answer({ message: 'remote connected', remotename });
    await serving;
    return request;
  }

  /** Waits until the client has handled every frame sent to it so far. */
  async settled(): Promise<void> {
    const ping = this.client.ping();
    await this.hub.answer({ message: 'pong' });
    await ping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    await this.hub[Symbol.asyncDispose]();
  }
}
