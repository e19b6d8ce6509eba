import { MAX_CALL_TIMEOUT_MS } from '@remotes-hub/protocol';
import type { Logger } from '../observability/logger.js';
import { writeJson, type JsonText } from '../json/json-text.js';
import type {
  Backplane,
  ListedElsewhere,
  Loss,
  NameClaim,
  NameHolder,
  NameLimits,
  NodeSide,
} from './backplane.js';
import { Keys } from './keys.js';
import { Membership } from './membership.js';
import { readBatch } from './message-batch.js';
import type { NodeMessage } from './node-messages.js';
import { Post } from './post.js';
import { RedisConnections } from './redis-connections.js';
import { RedisNames } from './redis-names.js';
import type { Soon } from '../soon.js';
import { answerOf, unavailable } from './unavailable.js';
import { UserChannels } from './user-channels.js';

/** No call waits longer for an instance to come back, in milliseconds: its own deadline ends it. */
const WAITING_TTL_MS = 2 * MAX_CALL_TIMEOUT_MS;
/** Leases after which names are written anew in a Redis Cluster. */
const LEASES_PER_AUDIT = 2;
/** Claims that are written anew at a time. */
const AT_A_TIME = 100;

/** What the nodes of a hub share. */
export interface RedisBackplaneOptions {
  /** `redis://` or `rediss://`. */
  readonly url: string;
  /** The URL names a node of a Redis Cluster. */
  readonly cluster: boolean;
  /** Begins the names of all keys and channels. */
  readonly prefix: string;
  /** How long a node that is not heard of keeps what it holds, in milliseconds. */
  readonly leaseMs: number;
  readonly limits: NameLimits;
  readonly log: Logger;
}

/**
 * Several nodes as one hub, over Redis: names in hashes that scripts change in one step, messages and events in sharded
 * channels, and a lease for every node.
 */
export class RedisBackplane implements Backplane {
  readonly #options: RedisBackplaneOptions;
  readonly #keys: Keys;
  readonly #redis: RedisConnections;
  readonly #membership: Membership;
  readonly #names: RedisNames;
  readonly #post: Post;
  readonly #channels: UserChannels;
  /** Of whom this node may hold something, as Redis knows it. */
  readonly #users = new Set<string>();
  #node: NodeSide | undefined;
  #audit: NodeJS.Timeout | undefined;
  /** What is written anew at the moment. */
  #claiming: Promise<void> | undefined;

  constructor(options: RedisBackplaneOptions) {
    const { url, cluster, prefix, leaseMs, log } = options;
    this.#options = options;
    this.#keys = new Keys(prefix);
    this.#redis = new RedisConnections({ url, isCluster: cluster, timeoutMs: leaseMs / 2 }, log);
    this.#membership = new Membership({ redis: this.#redis, keys: this.#keys, leaseMs, listener: this, log });
    this.#names = new RedisNames(this.#redis, this.#keys);
    const sender = (): string => this.nodeId;
    const lost = (message: NodeMessage, nodeId: string, loss: Loss): void =>
      this.#node?.lost(message, nodeId, loss);
    this.#post = new Post({ redis: this.#redis, keys: this.#keys, sender, lost });
    this.#channels = new UserChannels(this.#redis, this.#keys, sender, log);
    this.#redis.on('message', (channel, payload) => this.#received(channel, payload));
  }

  get nodeId(): string {
    return this.#membership.nodeId;
  }

  get isReady(): boolean {
    return this.#membership.isReady;
  }

  start(node: NodeSide): void {
    this.#node = node;
    this.#redis.open();
    this.#membership.start();
    const { cluster, leaseMs } = this.#options;
    if (cluster) this.#audit = setInterval(() => this.#claimAnew(), leaseMs * LEASES_PER_AUDIT);
  }

  async claim(claim: NameClaim, limits: NameLimits, replaced?: NameHolder): Promise<NameHolder | undefined> {
    this.#requireReady();
    const { nodeId } = this;
    await this.#mark(claim.userId);
    const { holder } = await this.#names.claim(nodeId, claim, limits, { replaced });
    if (nodeId === this.nodeId) return holder;
    void this.release(claim); // taken for dead meanwhile, and so would be its claim
    throw unavailable();
  }

  async release(claim: NameClaim): Promise<void> {
    if (!this.#redis.isReady) return; // when it joins again, it writes only what it holds then
    await this.#names.release(claim).catch((error: unknown) => {
      this.#options.log.warn({ err: error, userId: claim.userId }, 'a name was not given back');
    });
  }

  async find(userId: string, remotename: string): Promise<NameHolder | undefined> {
    this.#requireReady();
    const holder = await this.#names.find(userId, remotename);
    if (holder === undefined || holder.nodeId === this.nodeId) return undefined;
    return (await this.isAlive(holder.nodeId)) ? holder : undefined;
  }

  async list(userId: string): Promise<readonly ListedElsewhere[]> {
    this.#requireReady();
    const elsewhere: NameHolder[] = [];
    for (const holder of await this.#names.list(userId)) {
      if (holder.nodeId !== this.nodeId && (await this.isAlive(holder.nodeId))) elsewhere.push(holder);
    }
    return this.#names.withTools(userId, elsewhere);
  }

  async toolsOf(userId: string, holder: NameHolder): Promise<JsonText | undefined> {
    const [listed] = await this.#names.withTools(userId, [holder]);
    return listed?.tools;
  }

  isAlive(nodeId: string): Soon<boolean> {
    return this.#membership.isAlive(nodeId);
  }

  async join(userId: string): Promise<void> {
    await this.#channels.join(userId);
  }

  leave(userId: string): void {
    this.#channels.leave(userId);
  }

  publish(userId: string, events: readonly string[]): void {
    this.#channels.publish(userId, events);
  }

  async isElsewhere(userId: string): Promise<boolean> {
    return this.#channels.isElsewhere(userId);
  }

  send(nodeId: string, message: NodeMessage, isTold = false): void {
    this.#post.send(nodeId, message, isTold);
  }

  async moveInstance(userId: string, instanceKey: string, sessionId: string): Promise<readonly string[]> {
    this.#requireReady();
    await this.#mark(userId);
    const keys = this.#keys;
    const place = `${this.nodeId} ${sessionId}`;
    const [before, ...waiting] = await answerOf(
      this.#redis.commands.moveInstance(
        keys.instances(userId),
        keys.waiting(userId, instanceKey),
        instanceKey,
        place,
      ),
    );
    const [nodeBefore = ''] = before.split(' ');
    const living: string[] = [];
    for (const nodeId of new Set([nodeBefore, ...waiting])) {
      if (nodeId !== '' && nodeId !== this.nodeId && (await this.isAlive(nodeId))) living.push(nodeId);
    }
    return living;
  }

  awaitInstance(userId: string, instanceKey: string): void {
    if (!this.#redis.isReady) return;
    const { commands } = this.#redis;
    const key = this.#keys.waiting(userId, instanceKey);
    const failed = (error: unknown): void =>
      this.#options.log.warn({ err: error, userId }, 'other nodes do not know that calls wait here');
    commands.sadd(key, this.nodeId).catch(failed);
    commands.pexpire(key, WAITING_TTL_MS).catch(failed);
  }

  leaveInstance(userId: string, instanceKey: string, sessionId: string): void {
    if (!this.#redis.isReady) return;
    this.#redis.commands
      .leaveInstance(this.#keys.instances(userId), instanceKey, `${this.nodeId} ${sessionId}`)
      .catch(() => undefined); // a session that is gone is found out when it is asked for
  }

  keepRun(userId: string, runId: string, ttlMs: number): void {
    if (!this.#redis.isReady) return;
    this.#redis.commands
      .set(this.#keys.run(userId, runId), this.nodeId, 'PX', ttlMs)
      .catch((error: unknown) =>
        this.#options.log.warn({ err: error, runId }, 'other nodes do not know a run'),
      );
  }

  async findRun(userId: string, runId: string): Promise<string | undefined> {
    this.#requireReady();
    const nodeId = await answerOf(this.#redis.commands.get(this.#keys.run(userId, runId)));
    if (nodeId === null || nodeId === this.nodeId || !(await this.isAlive(nodeId))) return undefined;
    return nodeId;
  }

  /** @see MembershipListener */
  async joined(isNewEpoch: boolean): Promise<void> {
    await this.#channels.joinAgain();
    const claims = [...(this.#node?.claims() ?? [])];
    await this.#forgetOthers(claims);
    await this.#claimAll(claims, isNewEpoch);
    this.#node?.joined();
  }

  /** One primary of a Redis Cluster can lose its data while the others keep theirs, which no node would notice. */
  #claimAnew(): void {
    if (!this.isReady) return;
    this.#users.clear();
    this.#claiming = this.#claimAll([...(this.#node?.claims() ?? [])], true).catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'names not written anew');
    });
  }

  async #claimAll(claims: readonly NameClaim[], isNewEpoch: boolean): Promise<void> {
    for (let index = 0; index < claims.length; index += AT_A_TIME) {
      const some = claims.slice(index, index + AT_A_TIME);
      await Promise.all(some.map(async (claim) => this.#claimAgain(claim, isNewEpoch)));
    }
  }

  /** What could not be given back when it ended is so now. */
  async #forgetOthers(claims: readonly NameClaim[]): Promise<void> {
    const { nodeId } = this;
    const held = new Map<string, string[]>();
    for (const { userId, id } of claims) held.set(userId, [...(held.get(userId) ?? []), id]);
    this.#users.clear();
    for (const userId of await this.#redis.commands.smembers(this.#keys.usersOf(nodeId))) {
      const names = await this.#names.keepOnly(userId, nodeId, held.get(userId) ?? []);
      if (names.length > 0) this.#node?.remotesGone(userId, names);
    }
  }

  cutOff(): void {
    this.#post.cutOff();
    this.#node?.cutOff();
  }

  async died(nodeId: string): Promise<void> {
    this.#post.forget(nodeId);
    this.#node?.nodeGone(nodeId);
    for (const userId of await this.#redis.commands.smembers(this.#keys.usersOf(nodeId))) {
      const names = await this.#names.clear(userId, nodeId);
      if (names.length > 0) this.#node?.remotesGone(userId, names);
    }
  }

  forgot(nodeId: string): void {
    this.#post.forget(nodeId);
    this.#node?.nodeGone(nodeId);
  }

  /** Gives back what it holds, so that the others need not wait for its lease to end. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#audit);
    await this.#claiming;
    this.#post.flush();
    try {
      await this.#membership.leave();
    } catch (error) {
      this.#options.log.warn({ err: error }, 'could not leave the other nodes');
    }
    this.#membership[Symbol.dispose]();
    this.#redis[Symbol.dispose]();
  }

  #received(channel: string, payload: Buffer): void {
    const node = this.#node;
    if (node === undefined) return;
    if (channel === this.#keys.mailbox(this.nodeId)) this.#receivedBatch(node, payload);
    else this.#receivedEvents(node, channel, payload);
  }

  /** What was sent to a node that has been taken for dead by now is not waited for: it must not be done any more. */
  #receivedBatch(node: NodeSide, payload: Buffer): void {
    if (this.#membership.hasLapsed || this.#post.tookReturned(payload)) return;
    const batch = readBatch(payload);
    if (batch === undefined)
      return this.#options.log.warn({ bytes: payload.length }, 'unreadable message of a node');
    this.#post.received(batch.sender, payload.length);
    for (const message of batch.messages) {
      if (!this.#post.receive(message, batch.sender)) node.receive(message, batch.sender);
    }
  }

  #receivedEvents(node: NodeSide, channel: string, payload: Buffer): void {
    const userId = this.#keys.userOf(channel);
    if (userId === undefined) return;
    const read = this.#channels.read(payload);
    if (read !== undefined && read.from !== this.nodeId) node.deliver(userId, read.events);
  }

  /** Others must know whom to look for when this node has died. */
  async #mark(userId: string): Promise<void> {
    if (this.#users.has(userId)) return;
    await answerOf(this.#redis.commands.sadd(this.#keys.usersOf(this.nodeId), userId));
    this.#users.add(userId);
  }

  async #claimAgain(claim: NameClaim, isEarlierFirst: boolean): Promise<void> {
    if (claim.isOver) return;
    await this.#mark(claim.userId);
    const { limits } = this.#options;
    let replaced: NameHolder | undefined;
    for (;;) {
      const outcome = await this.#names.claim(this.nodeId, claim, limits, { replaced, isEarlierFirst });
      const { holder, overruled, wasFree = false } = outcome;
      if (overruled !== undefined) this.#overrule(claim.userId, overruled);
      if (wasFree && !isEarlierFirst) this.#tellAgain(claim);
      if (holder === undefined) return claim.isOver ? this.release(claim) : undefined;
      if (holder.nodeId === replaced?.nodeId || (await this.isAlive(holder.nodeId))) {
        return this.#node?.overruled(claim.userId, claim.id);
      }
      replaced = holder;
    }
  }

  /** Another node had cleared it away, and told its end. */
  #tellAgain({ userId, remotename }: NameClaim): void {
    this.publish(userId, [writeJson({ action: 'remote-connected', body: { remotename } })]);
  }

  #overrule(userId: string, { nodeId, id }: NameHolder): void {
    if (nodeId !== this.nodeId) this.send(nodeId, { head: ['overruled', userId, id] });
  }

  #requireReady(): void {
    if (!this.isReady) throw unavailable();
  }
}
