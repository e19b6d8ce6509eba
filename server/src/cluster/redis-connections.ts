import { EventEmitter } from 'node:events';
import { Cluster, Redis } from 'ioredis';
import type { Logger } from '../observability/logger.js';
import { defineScripts } from './scripts.js';
import { SilentPublisher, type ReturnAddress } from './silent-publisher.js';

/** Where Redis is, and how patient a node is with it. */
export interface RedisPlace {
  /** `redis://` or `rediss://`, with credentials where needed. */
  readonly url: string;
  /** The URL names a node of a Redis Cluster. */
  readonly isCluster: boolean;
  /** A connection on which an answer is awaited for so long is taken for dead, in milliseconds. */
  readonly timeoutMs: number;
}

interface RedisEvents {
  /** All connections can be used. */
  ready: [];
  /** One of them is lost; what was on its way may be too. */
  lost: [];
  /** A message of a channel. */
  message: [channel: string, payload: Buffer];
}

const MIN_RETRY_MS = 50;
const MAX_RETRY_MS = 2_000;

/**
 * Three connections to Redis: for commands, for channels, and for what is published without an answer. With a Redis Cluster
 * its client keeps those that are needed, and everything is answered.
 * Nothing waits in a queue for a connection that is not there: a command fails at once, whoever needs it tries again.
 * A command is never sent twice by itself, since nobody could tell whether the first one had arrived.
 */
export class RedisConnections extends EventEmitter<RedisEvents> implements Disposable {
  readonly commands: Redis | Cluster;
  readonly subscriber: Redis | Cluster;
  readonly #silent: SilentPublisher | undefined;
  /** Each once. */
  readonly #clients: readonly (Redis | Cluster)[];
  #isReady = false;
  #isClosed = false;

  constructor(
    place: RedisPlace,
    private readonly log: Logger,
  ) {
    super();
    if (place.isCluster) {
      this.commands = connectCluster(place);
      this.subscriber = this.commands;
      this.#clients = [this.commands];
    } else {
      this.commands = connectOne(place);
      this.subscriber = connectOne(place);
      // nothing comes back on it, which is not to be taken for its death
      const silent = connectOne(place, { socketTimeout: undefined });
      this.#silent = new SilentPublisher(silent);
      this.#clients = [this.commands, this.subscriber, silent];
    }
    defineScripts(this.commands);
    for (const client of this.#clients) this.#watch(client);
    this.subscriber.on('smessageBuffer', (channel: Buffer, payload: Buffer) => {
      this.emit('message', channel.toString(), payload);
    });
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Publishes what nobody asks about whether it arrived. Never fails. */
  publishSilently(channel: string, payload: Buffer): void {
    if (!this.#isReady || this.#silent?.publish(channel, payload)) return;
    this.commands.spublish(channel, payload).catch((error: unknown) => {
      this.log.warn({ err: error }, 'messages for other nodes lost');
    });
  }

  /**
   * Publishes what comes back to another channel when nobody listens, behind a few bytes that say so.
   * @returns false when that is not to be had: with a Redis Cluster, and without a connection
   */
  publishOrReturn(channel: string, payload: Buffer, back: ReturnAddress): boolean {
    return this.#isReady && this.#silent?.publishOrReturn(channel, payload, back) === true;
  }

  /** Begins to connect, and keeps trying. */
  open(): void {
    for (const client of this.#clients) {
      client.connect().catch(() => undefined); // told by its events, and tried again
    }
  }

  /** What is published does not come back though all looks alive: the connections are made anew. */
  renew(): void {
    this.#lost();
    for (const client of this.#clients) client.disconnect(true);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#isReady = false;
    for (const client of this.#clients) client.disconnect();
  }

  #watch(client: Redis | Cluster): void {
    client.on('ready', () => this.#becameReady());
    client.on('close', () => this.#lost());
    client.on('error', (error: Error) => {
      if (!this.#isClosed) this.log.warn({ reason: error.message }, 'Redis connection failed');
    });
  }

  #becameReady(): void {
    if (this.#isReady || this.#clients.some(({ status }) => status !== 'ready')) return;
    this.#isReady = true;
    this.emit('ready');
  }

  #lost(): void {
    if (!this.#isReady) return;
    this.#isReady = false;
    this.log.error({}, 'connection to Redis lost');
    this.emit('lost');
  }
}

function connectOne(place: RedisPlace, more: { readonly socketTimeout?: undefined } = {}): Redis {
  return new Redis(place.url, {
    ...common(place),
    ...more,
    retryStrategy: retryDelay,
    enableOfflineQueue: false,
  });
}

function connectCluster(place: RedisPlace): Cluster {
  const { hostname, port, username, password, protocol } = new URL(place.url);
  return new Cluster([{ host: hostname, port: Number(port === '' ? 6_379 : port) }], {
    lazyConnect: true,
    enableOfflineQueue: false,
    shardedSubscribers: true,
    clusterRetryStrategy: retryDelay,
    retryDelayOnFailover: 0, // no command is sent again by itself
    slotsRefreshTimeout: place.timeoutMs,
    redisOptions: {
      ...common(place),
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      ...(protocol === 'rediss:' && { tls: {} }),
    },
  });
}

function common({ timeoutMs }: RedisPlace) {
  return {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    socketTimeout: timeoutMs, // one for all, in place of a timer for every command
    maxRetriesPerRequest: 0, // what was on its way when the connection was lost has failed
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false, // channels are subscribed to by those who want them, when they join again
    // a primary that has become a replica: the name leads to another one now
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  };
}

function retryDelay(attempts: number): number {
  return Math.min(MIN_RETRY_MS * 2 ** Math.min(attempts - 1, 10), MAX_RETRY_MS) * (0.5 + Math.random() / 2);
}
