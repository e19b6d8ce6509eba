import { randomUUID } from 'node:crypto';
import type { Logger } from '../observability/logger.js';
import type { Keys } from './keys.js';
import { OtherNodes } from './other-nodes.js';
import type { RedisConnections } from './redis-connections.js';
import { answerOf } from './unavailable.js';

/** Heartbeats in the time of a lease. */
const BEATS_PER_LEASE = 6;
/** A node that was not heard for so many beats is looked up. */
const SILENT_BEATS = 2;
/** The channel is taken for dead when so many heartbeats of a node's own have not come back to it. */
const DEAF_BEATS = 3;

/** What a node is told about its place among the others. */
export interface MembershipListener {
  /**
   * It has a lease: what it holds is to be written anew.
   * @param isNewEpoch whether Redis has lost its data since the last time
   */
  joined(isNewEpoch: boolean): Promise<void>;
  /** It was cut off, or taken for dead: what was on its way is lost. */
  cutOff(): void;
  /** Another node is dead, and what it held is to be cleared away. */
  died(nodeId: string): Promise<void>;
  /** Another node has lost what it was sent. */
  forgot(nodeId: string): void;
}

/** What a membership is made of. */
export interface MembershipOptions {
  readonly redis: RedisConnections;
  readonly keys: Keys;
  readonly leaseMs: number;
  readonly listener: MembershipListener;
  readonly log: Logger;
}

/**
 * A node's place among the others: a lease in Redis, renewed with every heartbeat, and the heartbeats of all. Without
 * its lease a node is dead to the others. One that finds its lease gone comes back under another id, so that it can
 * never take what others have by now for its own.
 */
export class Membership implements Disposable {
  readonly #options: MembershipOptions;
  readonly #others = new OtherNodes();
  #nodeId: string = randomUUID();
  #generation = 0;
  #epoch: string | undefined;
  #hasLease = false;
  #leaseEndsAt = 0;
  /** Heartbeats that have not come back. */
  #unheard = 0;
  /** Counts the times that it joined. */
  #joins = 0;
  /** What it holds is being written anew. */
  #isWriting = false;
  #timer: NodeJS.Timeout | undefined;
  #isBeating = false;
  #isClosed = false;

  constructor(options: MembershipOptions) {
    this.#options = options;
    options.redis.on('ready', () => this.#beat());
    options.redis.on('lost', () => this.#wasCutOff());
    options.redis.on('message', (channel, payload) => {
      if (channel === options.keys.heartbeats) this.#heard(payload.toString());
    });
  }

  get nodeId(): string {
    return this.#nodeId;
  }

  /** Whether this node has its lease, what it holds is known, and it hears the others. */
  get isReady(): boolean {
    return (
      this.#hasLease && !this.#isWriting && this.#options.redis.isReady && this.#hears && !this.hasLapsed
    );
  }

  /** Whether its lease must be over, even if nobody has told: the process may have been stopped. */
  get hasLapsed(): boolean {
    return performance.now() > this.#leaseEndsAt;
  }

  get #beatMs(): number {
    return this.#options.leaseMs / BEATS_PER_LEASE;
  }

  get #heartbeat(): string {
    return `${this.#nodeId} ${this.#generation}`;
  }

  get #hears(): boolean {
    return this.#unheard < DEAF_BEATS;
  }

  start(): void {
    this.#timer = setInterval(() => this.#beat(), this.#beatMs);
  }

  /** Whether another node lives, as far as is known. @throws {RemoteError} `backplane-unavailable` */
  isAlive(nodeId: string): boolean | Promise<boolean> {
    if (nodeId === this.#nodeId) return true;
    if (this.#others.wasSeenWithin(nodeId, this.#beatMs * SILENT_BEATS)) return true;
    return this.#lookUp(nodeId);
  }

  /** Leaves the others, which need not wait for the lease to end. */
  async leave(): Promise<void> {
    const { redis, keys } = this.#options;
    if (!this.#hasLease || !redis.isReady) return;
    this.#hasLease = false;
    await redis.commands.del(keys.lease(this.#nodeId));
    await redis.commands.spublish(keys.heartbeats, `${this.#nodeId} gone`);
    await redis.commands.srem(keys.nodes, this.#nodeId);
    await redis.commands.del(keys.usersOf(this.#nodeId));
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  #beat(): void {
    if (this.#isBeating || this.#isClosed || !this.#options.redis.isReady) return;
    this.#isBeating = true;
    this.#renewOrJoin()
      .catch((error: unknown) => {
        this.#options.log.warn({ err: error }, 'heartbeat failed');
        if (this.#hasLease && this.hasLapsed) this.#wasCutOff();
      })
      .finally(() => {
        this.#isBeating = false;
      });
  }

  async #renewOrJoin(): Promise<void> {
    const { redis, keys } = this.#options;
    if (!this.#hasLease) await this.#join();
    else if (!(await this.#renew())) {
      this.#options.log.error({ nodeId: this.#nodeId }, 'lease lost: this node was taken for dead');
      this.#wasCutOff();
      await this.#join();
    }
    if (!this.#hears) return this.#isDeaf();
    this.#unheard += 1;
    redis.publishSilently(keys.heartbeats, Buffer.from(this.#heartbeat));
    await this.#watchOthers();
  }

  /** @returns whether there still was a lease */
  async #renew(): Promise<boolean> {
    const { redis, keys, leaseMs } = this.#options;
    const now = performance.now();
    const reply = await redis.commands.set(keys.lease(this.#nodeId), this.#generation, 'PX', leaseMs, 'XX');
    if (reply === null) return false;
    this.#leaseEndsAt = now + leaseMs;
    return true;
  }

  async #join(): Promise<void> {
    const { redis, keys, leaseMs } = this.#options;
    // one that was only cut off for a while has its lease still, and keeps its id
    const isKnown = this.#joins > 0 && (await this.#renew());
    if (this.#joins > 0 && !isKnown) await this.#takeAnotherId();
    const nodeId = this.#nodeId;
    // before anybody can reach it again: what was sent to it earlier is lost
    await redis.commands.spublish(keys.heartbeats, this.#heartbeat);
    await redis.subscriber.ssubscribe(keys.mailbox(nodeId));
    await redis.subscriber.ssubscribe(keys.heartbeats);
    const now = performance.now();
    if (!isKnown) await redis.commands.set(keys.lease(nodeId), this.#generation, 'PX', leaseMs);
    await redis.commands.sadd(keys.nodes, nodeId);
    const epoch = randomUUID();
    await redis.commands.set(keys.epoch, epoch, 'NX');
    const found = (await redis.commands.get(keys.epoch)) ?? epoch;
    this.#leaseEndsAt = now + leaseMs;
    this.#unheard = 0;
    this.#hasLease = true;
    this.#others.hearAgain();
    this.#writeAnew(found);
  }

  async #takeAnotherId(): Promise<void> {
    const { redis, keys } = this.#options;
    // so that the others are told that nobody listens
    await redis.subscriber.sunsubscribe(keys.mailbox(this.#nodeId));
    this.#nodeId = randomUUID();
  }

  /** Takes its time, so the heartbeats go on meanwhile. */
  #writeAnew(epoch: string): void {
    const { listener, log } = this.#options;
    const isNewEpoch = this.#epoch !== undefined && this.#epoch !== epoch;
    this.#joins += 1;
    const join = this.#joins;
    this.#isWriting = true;
    const write = async (): Promise<void> => {
      await this.#clearDead();
      await listener.joined(isNewEpoch);
      if (join !== this.#joins) return;
      this.#isWriting = false;
      this.#epoch = epoch;
      log.info({ nodeId: this.#nodeId, isNewEpoch }, 'joined the other nodes');
    };
    write().catch((error: unknown) => {
      log.warn({ err: error }, 'could not join the other nodes');
      if (join === this.#joins) this.#hasLease = false; // the next heartbeat tries again
    });
  }

  /** Nodes that died while nobody was there to see it. */
  async #clearDead(): Promise<void> {
    const { redis, keys } = this.#options;
    for (const nodeId of await redis.commands.smembers(keys.nodes)) {
      if (nodeId !== this.#nodeId && !(await this.#lookUp(nodeId))) await this.#buried(nodeId);
    }
  }

  async #lookUp(nodeId: string): Promise<boolean> {
    const { redis, keys } = this.#options;
    const generation = await answerOf(redis.commands.get(keys.lease(nodeId)));
    if (generation === null) return false;
    this.#others.add(nodeId, Number(generation));
    return true;
  }

  async #watchOthers(): Promise<void> {
    for (const nodeId of this.#others.silentFor(this.#beatMs * SILENT_BEATS)) {
      if (!(await this.#lookUp(nodeId))) await this.#buried(nodeId);
      else if (!this.#others.wasSeenWithin(nodeId, this.#options.leaseMs))
        this.#options.listener.forgot(nodeId);
    }
  }

  async #buried(nodeId: string): Promise<void> {
    const { redis, keys, listener, log } = this.#options;
    this.#others.delete(nodeId);
    log.warn({ deadNodeId: nodeId }, 'a node has died');
    await listener.died(nodeId);
    await redis.commands.del(keys.usersOf(nodeId));
    await redis.commands.srem(keys.nodes, nodeId);
  }

  #heard(heartbeat: string): void {
    const [nodeId = '', state = ''] = heartbeat.split(' ');
    if (nodeId === this.#nodeId) this.#unheard = 0;
    else if (state === 'gone') {
      this.#others.delete(nodeId);
      this.#options.listener.forgot(nodeId);
    } else if (this.#others.seen(nodeId, Number(state))) this.#options.listener.forgot(nodeId);
  }

  #wasCutOff(): void {
    this.#hasLease = false;
    this.#generation += 1;
    this.#options.listener.cutOff();
  }

  /** Its own heartbeats do not come back, so neither does anything else. */
  #isDeaf(): void {
    this.#unheard = 0;
    this.#options.log.error({ nodeId: this.#nodeId }, 'the channel from Redis is silent');
    this.#options.redis.renew();
  }
}
