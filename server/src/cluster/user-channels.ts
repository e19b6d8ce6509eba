import * as z from 'zod';
import type { Logger } from '../observability/logger.js';
import type { Keys } from './keys.js';
import type { RedisConnections } from './redis-connections.js';
import { answerOf } from './unavailable.js';

/** The node that sends them, and the texts of the events. */
const eventsSchema = z.tuple([z.string()]).rest(z.string());

/** Channels that are subscribed to at a time when a node joins again. */
const AT_A_TIME = 500;

/** The events of users between nodes: a node listens to the channels of those who have sessions on it. */
export class UserChannels {
  readonly #joined = new Set<string>();

  /** @param sender the id of this node, which may change */
  constructor(
    private readonly redis: Pick<RedisConnections, 'commands' | 'subscriber' | 'isReady' | 'publishSilently'>,
    private readonly keys: Keys,
    private readonly sender: () => string,
    private readonly log: Logger,
  ) {}

  /** Gets the events of a user from now on. Never fails: a node that was cut off joins again. */
  async join(userId: string): Promise<void> {
    this.#joined.add(userId);
    if (this.redis.isReady) await this.#subscribe(userId);
  }

  leave(userId: string): void {
    this.#joined.delete(userId);
    if (this.redis.isReady)
      this.redis.subscriber.sunsubscribe(this.keys.events(userId)).catch(() => undefined);
  }

  /** After the connection was lost. */
  async joinAgain(): Promise<void> {
    const users = [...this.#joined];
    for (let index = 0; index < users.length; index += AT_A_TIME) {
      await Promise.all(users.slice(index, index + AT_A_TIME).map(async (userId) => this.#subscribe(userId)));
    }
  }

  publish(userId: string, events: readonly string[]): void {
    this.redis.publishSilently(this.keys.events(userId), Buffer.from(this.#written(events)));
  }

  /** The events of a payload, and which node sent them; `undefined` when it is none. */
  read(payload: Buffer): { readonly from: string; readonly events: readonly string[] } | undefined {
    try {
      const [from, ...events] = eventsSchema.parse(JSON.parse(payload.toString()));
      return { from, events };
    } catch {
      return undefined;
    }
  }

  /** Whether a user has sessions on other nodes than this one. */
  async isElsewhere(userId: string): Promise<boolean> {
    // no events at all: only to be told how many listen, which a Redis Cluster tells in no other way
    const listeners = await answerOf(
      this.redis.commands.spublish(this.keys.events(userId), this.#written([])),
    );
    return Number(listeners) > (this.#joined.has(userId) ? 1 : 0);
  }

  #written(events: readonly string[]): string {
    return JSON.stringify([this.sender(), ...events]);
  }

  async #subscribe(userId: string): Promise<void> {
    if (!this.#joined.has(userId)) return;
    try {
      await this.redis.subscriber.ssubscribe(this.keys.events(userId));
    } catch (error) {
      this.log.warn({ err: error, userId }, 'events of other nodes not subscribed to');
    }
  }
}
