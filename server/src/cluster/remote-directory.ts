import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { functionSpecsSchema } from '@remotes-hub/protocol';
import * as z from 'zod';
import { writeJson, type JsonText } from '../json/json-text.js';
import type { Provider } from '../remotes/provider.js';
import type { RemoteConnection, RemoteDescription } from '../remotes/remote-connection.js';
import { RemoteError } from '../remotes/remote-error.js';
import { alreadyConnected, notConnected, type RemoteRegistry } from '../remotes/remote-registry.js';
import {
  compileFunctions,
  type ServedFunction,
  type ServedFunctionLimits,
} from '../remotes/served-functions.js';
import type { Backplane, NameClaim, NameHolder, NameLimits } from './backplane.js';
import { NodeGoneError, type NodeAnswer, type Questions } from './questions.js';
import { whenThere, type Soon } from '../soon.js';

/** Time beyond the probe itself for the node of a holder to answer, in milliseconds. */
const PROBE_GRACE_MS = 1_000;
/** How long the name of a node on which nobody listens is waited for: until its lease has ended, as a rule. */
const WAIT_MS = 250;
const MAX_WAITS = 40;
/** Time for a node to disconnect a remote, in milliseconds. */
const DISCONNECT_TIMEOUT_MS = 5_000;

/** A remote as `remote-list` shows it. */
export interface ListedRemote {
  readonly remotename: string;
  readonly tools: JsonText;
}

/** A remote with what may be asked of its functions. */
export interface FoundRemote {
  readonly remotename: string;
  readonly functions: ReadonlyMap<string, ServedFunction>;
}

/** A remote that somebody wants to connect, as long as that is so. */
interface WantedRemote extends RemoteDescription {
  readonly isWanted: () => boolean;
}

/** What the directory works with. */
export interface RemoteDirectoryOptions {
  readonly registry: RemoteRegistry;
  readonly backplane: Backplane;
  readonly questions: Questions;
  readonly limits: NameLimits & ServedFunctionLimits & { readonly probeTimeoutMs: number };
  /** Told when the name of a node that died is taken before anybody has told its end. */
  readonly remoteGone: (userId: string, remotename: string) => void;
}

/**
 * The remotes of all nodes. Within this node its registry decides, among the nodes the backplane does: a name is claimed
 * there first. On one node alone nothing here ever waits.
 */
export class RemoteDirectory {
  readonly #options: RemoteDirectoryOptions;
  readonly #claims = new Map<RemoteConnection, NameClaim>();
  /** Connections that have ended, until their names are free among all nodes. */
  readonly #releasing = new Map<RemoteConnection, Promise<void>>();
  /** Claims on their way, by who makes them. */
  readonly #claiming = new Map<Provider, Set<Promise<unknown>>>();
  /** The last of those that wait for claims, by whose they are. */
  readonly #waiting = new Map<Provider, Promise<void>>();
  /** Names that are being claimed, as {@link nameOf} writes them, with the ids of their claims. */
  readonly #claimingNames = new Map<string, string>();

  constructor(options: RemoteDirectoryOptions) {
    this.#options = options;
    const { questions } = options;
    questions.answerAbout('probe', async (fields) => this.#answerProbe(fields));
    questions.answerAbout('disconnect', async (fields) => this.#answerDisconnect(fields));
  }

  /**
   * Connects a remote, at once on one node alone, and when no holder of its name has to be probed.
   * @param isWanted whether it still is when a holder has been probed
   * @throws {RemoteError} `remote-already-connected`, `too-many-remotes`, `shutting-down`, `backplane-unavailable`
   */
  connect(
    description: RemoteDescription,
    provider: Provider,
    isWanted: () => boolean = () => true,
  ): Soon<RemoteConnection> {
    const wanted = { ...description, isWanted };
    const yielded = this.#options.registry.yieldGhost(description, provider);
    if (yielded === undefined) return this.#claim(wanted, provider);
    return yielded.then(() => this.#claim(wanted, provider));
  }

  /** The same, taking every holder of this node for alive. */
  connectUnprobed(description: RemoteDescription, provider: Provider): Soon<RemoteConnection> {
    return this.#claim({ ...description, isWanted: () => true }, provider);
  }

  /**
   * Does something when what a provider claims now is decided, so that it never overtakes a `remote-connect` before it,
   * nor anything else that waits for that.
   */
  inOrder<T>(provider: Provider | undefined, task: () => Soon<T>): Soon<T> {
    if (provider === undefined) return task();
    const claims = this.#claiming.get(provider);
    const earlier = this.#waiting.get(provider);
    if (claims === undefined && earlier === undefined) return task();
    const outcome = this.#afterAll([...(claims ?? []), earlier], task);
    this.#letOthersWait(provider, outcome);
    return outcome;
  }

  /** The same for what changes the remotes: later ones wait for it. */
  changeInOrder<T>(provider: Provider | undefined, change: () => Soon<T>): Soon<T> {
    const outcome = this.inOrder(provider, change);
    if (provider !== undefined && outcome instanceof Promise) this.#letOthersWait(provider, outcome);
    return outcome;
  }

  #letOthersWait(provider: Provider, outcome: Promise<unknown>): void {
    const ended = outcome.then(
      () => undefined,
      () => undefined,
    );
    this.#waiting.set(provider, ended);
    void ended.then(() => {
      if (this.#waiting.get(provider) === ended) this.#waiting.delete(provider);
    });
  }

  /** The same for a `remote-connect`, which need not wait for others. */
  inOrderAmongWaiting<T>(provider: Provider, task: () => Soon<T>): Soon<T> {
    return this.#waiting.has(provider) ? this.inOrder(provider, task) : task();
  }

  /** In a turn of its own, in which what follows from the claims has been done, and has been answered. */
  async #afterAll<T>(earlier: readonly unknown[], task: () => Soon<T>): Promise<T> {
    await Promise.allSettled(earlier);
    await setImmediate();
    return task();
  }

  /** Whether anything is being claimed by somebody. */
  get isClaiming(): boolean {
    return this.#claiming.size > 0 || this.#waiting.size > 0;
  }

  /**
   * Ends a remote, wherever it is; with `drain`, its calls in flight may still finish.
   * @throws {RemoteError} `remote-not-connected`, `backplane-unavailable`
   */
  disconnect(userId: string, remotename: string, drain: boolean): Soon<void> {
    const { registry, backplane } = this.#options;
    const connection = registry.find(userId, remotename);
    if (connection !== undefined) return this.disconnectConnection(connection, drain);
    return whenThere(backplane.find(userId, remotename), (holder) => {
      if (holder === undefined) throw notConnected(remotename);
      return this.#disconnectElsewhere(userId, holder, drain);
    });
  }

  /** Ends this very connection of this node; harmless when it has ended. @returns when its name is free */
  disconnectConnection(connection: RemoteConnection, drain = false): Soon<void> {
    this.#options.registry.disconnect(connection, { drain });
    return this.#releasing.get(connection);
  }

  /** A connection of this node has ended. @returns when its name is free among all nodes */
  ended(connection: RemoteConnection): Soon<void> {
    const claim = this.#claims.get(connection);
    if (claim === undefined) return;
    this.#claims.delete(connection);
    claim.isOver = true;
    const released = this.#options.backplane.release(claim);
    if (!(released instanceof Promise)) return;
    const freed = released.finally(() => this.#releasing.delete(connection));
    this.#releasing.set(connection, freed);
    return freed;
  }

  /** All remotes of a user, in the order they connected. @throws {RemoteError} `backplane-unavailable` */
  list(userId: string): Soon<Iterable<ListedRemote>> {
    const { registry, backplane } = this.#options;
    const elsewhere = backplane.list(userId);
    if (!(elsewhere instanceof Promise)) return registry.list(userId); // one node alone
    const here = Array.from(registry.list(userId), (connection) => ({
      remotename: connection.remotename,
      tools: connection.tools,
      at: this.#claims.get(connection)?.at ?? 0,
    }));
    return elsewhere.then((remotes) => [...remotes, ...here].toSorted((one, other) => one.at - other.at));
  }

  /** A remote, wherever it is. @throws {RemoteError} `backplane-unavailable` */
  find(userId: string, remotename: string): Soon<FoundRemote | undefined> {
    const { registry, backplane } = this.#options;
    const connection = registry.find(userId, remotename);
    if (connection !== undefined) return connection;
    return whenThere(backplane.find(userId, remotename), (holder) => {
      if (holder === undefined) return undefined;
      return whenThere(backplane.toolsOf(userId, holder), (tools) => this.#read(remotename, tools));
    });
  }

  /** @throws {RemoteError} `remote-not-connected`, `backplane-unavailable` */
  get(userId: string, remotename: string): Soon<FoundRemote> {
    return whenThere(this.find(userId, remotename), (found) => {
      if (found === undefined) throw notConnected(remotename);
      return found;
    });
  }

  /** Whether a remote is served on this node. */
  isHere(userId: string, remotename: string | undefined): boolean {
    return remotename !== undefined && this.#options.registry.find(userId, remotename) !== undefined;
  }

  /** What this node holds among the others. */
  claims(): Iterable<NameClaim> {
    return this.#claims.values();
  }

  /** A name belongs to another node's connection: this node's gives way. */
  overruled(userId: string, id: string): void {
    for (const [connection, claim] of this.#claims) {
      if (claim.id !== id || claim.userId !== userId) continue;
      this.#claims.delete(connection);
      claim.isOver = true;
      this.#options.registry.disconnect(connection);
      return;
    }
  }

  /** Gives every name back, at shutdown, and tells the sessions on other nodes. */
  async close(): Promise<void> {
    const { backplane } = this.#options;
    const claims = [...this.#claims.values()];
    this.#claims.clear();
    for (const claim of claims) claim.isOver = true;
    await Promise.all(claims.map(async (claim) => backplane.release(claim)));
    for (const { userId, remotename } of claims) {
      const event = writeJson({ action: 'remote-disconnected', body: { remotename } });
      backplane.publish(userId, [event]);
    }
  }

  #claim(description: WantedRemote, provider: Provider, replaced?: NameHolder): Soon<RemoteConnection> {
    const { registry, backplane, limits } = this.#options;
    if (!description.isWanted()) throw new RemoteError('connection-lost', 'the session has ended');
    registry.requireRoom(description, provider);
    if (this.#claimingNames.has(nameOf(description))) throw alreadyConnected(description.remotename);
    const claim = claimOf(description);
    const holder = this.#whileClaiming(provider, claim, backplane.claim(claim, limits, replaced));
    return whenThere(holder, (found) => {
      if (found === undefined) return this.#connected(description, provider, claim);
      return this.#conflict(description, provider, found, replaced);
    });
  }

  #whileClaiming<T>(provider: Provider, claim: NameClaim, claiming: Soon<T>): Soon<T> {
    if (!(claiming instanceof Promise)) return claiming;
    const claims = this.#claiming.get(provider) ?? new Set();
    this.#claiming.set(provider, claims.add(claiming));
    this.#claimingNames.set(nameOf(claim), claim.id);
    return claiming.finally(() => {
      this.#claimingNames.delete(nameOf(claim));
      claims.delete(claiming);
      if (claims.size === 0) this.#claiming.delete(provider);
    });
  }

  #connected(description: RemoteDescription, provider: Provider, claim: NameClaim): RemoteConnection {
    const { registry, backplane } = this.#options;
    try {
      const connection = registry.connect(description, provider);
      this.#claims.set(connection, claim);
      return connection;
    } catch (error) {
      void backplane.release(claim);
      throw error;
    }
  }

  /** Somebody else has the name: a node that died, a ghost, or a session that lives. */
  async #conflict(
    description: WantedRemote,
    provider: Provider,
    holder: NameHolder,
    replaced: NameHolder | undefined,
  ): Promise<RemoteConnection> {
    const { userId, remotename } = description;
    const isSecondTime = replaced !== undefined;
    if (isSecondTime || (await this.#lives(userId, holder))) throw alreadyConnected(remotename);
    return this.#claim(description, provider, holder);
  }

  async #lives(userId: string, holder: NameHolder): Promise<boolean> {
    const { backplane } = this.#options;
    if (holder.nodeId === backplane.nodeId) return this.#isOwn(holder);
    for (let waits = 0; waits < MAX_WAITS && (await backplane.isAlive(holder.nodeId)); waits += 1) {
      const lives = await this.#probe(userId, holder);
      if (lives !== undefined) return lives;
      await delay(WAIT_MS); // nobody listens there: that node is dead, or has lost its connection for a moment
    }
    if (await backplane.isAlive(holder.nodeId)) return true;
    this.#options.remoteGone(userId, holder.remotename);
    return false;
  }

  /** An entry that this node could not take back when its connection ended is nobody's. */
  #isOwn({ id }: NameHolder): boolean {
    return [...this.#claims.values()].some((claim) => claim.id === id);
  }

  /**
   * Asks the holder's node; one that does not answer in time is taken for alive.
   * @returns `undefined` when nobody listens there
   */
  async #probe(userId: string, { nodeId, remotename, id }: NameHolder): Promise<boolean | undefined> {
    const { questions, limits } = this.#options;
    const timeoutMs = limits.probeTimeoutMs + PROBE_GRACE_MS;
    try {
      const { value } = await questions.ask(nodeId, 'probe', [userId, remotename, id], timeoutMs);
      return value !== false;
    } catch (error) {
      return error instanceof NodeGoneError ? undefined : true;
    }
  }

  async #answerProbe(fields: readonly unknown[]): Promise<NodeAnswer> {
    const [userId, remotename, id] = probeFields.parse(fields);
    const connection = this.#options.registry.find(userId, remotename);
    if (connection === undefined || this.#claims.get(connection)?.id !== id) {
      return { value: this.#claimingNames.get(nameOf({ userId, remotename })) === id };
    }
    const lives = await connection.provider.probe();
    if (lives) return { value: this.#options.registry.find(userId, remotename) === connection };
    await this.disconnectConnection(connection);
    return { value: false };
  }

  async #disconnectElsewhere(userId: string, holder: NameHolder, drain: boolean): Promise<void> {
    const fields = [userId, holder.remotename, holder.id, drain];
    await this.#options.questions.ask(holder.nodeId, 'disconnect', fields, DISCONNECT_TIMEOUT_MS);
  }

  async #answerDisconnect(fields: readonly unknown[]): Promise<NodeAnswer> {
    const [userId, remotename, id, drain] = disconnectFields.parse(fields);
    const connection = this.#options.registry.find(userId, remotename);
    if (connection === undefined || this.#claims.get(connection)?.id !== id) throw notConnected(remotename);
    await this.disconnectConnection(connection, drain);
    return { value: true };
  }

  /** Specs that this node can make nothing of are those of a newer one. */
  #read(remotename: string, tools: JsonText | undefined): FoundRemote | undefined {
    if (tools === undefined) return undefined; // it has gone meanwhile
    const specs = functionSpecsSchema.safeParse(tools.parse());
    if (!specs.success) {
      throw new RemoteError(
        'internal-error',
        `remote '${remotename}' is connected by another version of the hub`,
      );
    }
    return { remotename, functions: compileFunctions(specs.data, this.#options.limits).functions };
  }
}

const text = z.string();
const probeFields = z.tuple([text, text, text]).rest(z.unknown());
const disconnectFields = z.tuple([text, text, text, z.boolean()]).rest(z.unknown());

function claimOf({ userId, remotename, instanceKey, tools, functions }: RemoteDescription): NameClaim {
  const timeouts = new Map<string, number>();
  for (const [name, { spec }] of functions)
    if (spec.timeoutMs !== undefined) timeouts.set(name, spec.timeoutMs);
  return { userId, remotename, id: randomUUID(), instanceKey, tools, timeouts };
}

function nameOf({ userId, remotename }: Pick<NameClaim, 'userId' | 'remotename'>): string {
  return JSON.stringify([userId, remotename]);
}
