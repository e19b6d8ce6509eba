/*
 * Of the peers' packages what is used here, so that a checkout without them can be checked as well. These
 * declarations stand for the packages also where they are installed.
 */

declare module 'socket.io' {
  import type { Server as HttpServer } from 'node:http';
  export interface Socket {
    on(event: string, listener: (...args: never[]) => void): this;
    emitWithAck(event: string, ...args: unknown[]): Promise<unknown>;
    join(room: string): void;
  }
  export interface Room {
    timeout(ms: number): { emitWithAck(event: string, ...args: unknown[]): Promise<unknown[]> };
  }
  export interface ServerOptions {
    maxHttpBufferSize: number;
    transports: readonly string[];
    adapter?: unknown;
  }
  export class Server {
    constructor(server: HttpServer, options: ServerOptions);
    on(event: 'connection', listener: (socket: Socket) => void): this;
    emit(event: string, ...args: unknown[]): boolean;
    to(room: string): Room;
  }
}

declare module '@socket.io/redis-adapter' {
  import type { Redis } from 'ioredis';
  export function createAdapter(
    publisher: Redis,
    subscriber: Redis,
    options: { publishOnSpecificResponseChannel: boolean },
  ): unknown;
}

declare module 'socket.io-client' {
  export interface Socket {
    on(event: string, listener: (...args: never[]) => void): this;
    once(event: string, listener: (...args: never[]) => void): this;
    emit(event: string, ...args: unknown[]): this;
    emitWithAck(event: string, ...args: unknown[]): Promise<unknown>;
    disconnect(): this;
  }
  export function io(
    url: string,
    options: { transports: readonly string[]; forceNew: boolean; reconnection: boolean },
  ): Socket;
}

declare module 'rpc-websockets' {
  import type { WebSocketServer } from 'ws';
  export class Server {
    readonly wss: WebSocketServer;
    constructor(options: { port: number; host: string });
    on(event: 'listening', listener: () => void): this;
    register(name: string, method: (params: never, socketId: string) => unknown): void;
    event(name: string): void;
    emit(event: string, ...params: unknown[]): boolean;
  }
  export class Client {
    constructor(url: string, options: { reconnect: boolean });
    on(event: string, listener: (...params: never[]) => void): this;
    once(event: string, listener: (...params: never[]) => void): this;
    call(method: string, params?: object): Promise<unknown>;
    notify(method: string, params?: object): Promise<void>;
    subscribe(event: string): Promise<unknown>;
    close(): void;
  }
}

declare module 'fox-wamp' {
  import type { WebSocketServer } from 'ws';
  class Router {
    getRealm(name: string, ready: () => void): void;
    listenWAMP(options: { port: number; host: string }): WebSocketServer;
  }
  export = Router;
}

declare module 'autobahn' {
  interface Session {
    register(procedure: string, endpoint: (args: readonly unknown[]) => unknown): Promise<unknown>;
    call(procedure: string, args: readonly unknown[]): Promise<unknown>;
    subscribe(topic: string, handler: (args: readonly unknown[]) => void): Promise<unknown>;
    publish(
      topic: string,
      args: readonly unknown[],
      named: object,
      options: { exclude_me: boolean },
    ): Promise<unknown> | void;
  }
  class Connection {
    constructor(options: { url: string; realm: string; max_retries: number });
    open(): void;
    close(): void;
  }
  const autobahn: { Connection: typeof Connection };
  export type { Connection, Session };
  export default autobahn;
}

declare module '@deepstream/server' {
  class Deepstream {
    constructor(config: object);
    on(event: 'started', listener: () => void): void;
    start(): void;
  }
  const deepstream: { Deepstream: typeof Deepstream };
  export default deepstream;
}

declare module '@deepstream/client' {
  interface Client {
    login(): Promise<unknown>;
    close(): void;
    readonly rpc: {
      provide(name: string, provider: (data: unknown, response: { send(data: unknown): void }) => void): void;
      make(name: string, data: unknown): Promise<unknown>;
    };
    readonly event: {
      subscribe(name: string, listener: (data: unknown) => void): void;
      emit(name: string, data: unknown): void;
    };
    readonly presence: { getAll(): Promise<unknown> };
  }
  const deepstream: { DeepstreamClient: new (url: string, options: object) => Client };
  export type { Client };
  export default deepstream;
}

declare module '@nats-io/transport-node' {
  export interface Message {
    json(): unknown;
    string(): string;
    respond(data: string): boolean;
  }
  export interface NatsConnection {
    request(subject: string, data: string, options: { timeout: number }): Promise<Message>;
    subscribe(subject: string, options: { callback: (error: unknown, message: Message) => void }): unknown;
    publish(subject: string, data: string): void;
    flush(): Promise<void>;
    close(): Promise<void>;
  }
  export function connect(options: { servers: string; reconnect: boolean }): Promise<NatsConnection>;
}
