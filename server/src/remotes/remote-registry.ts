import { Deadlines } from './deadlines.js';
import { RemoteConnection, type CallLimits, type RemoteDescription } from './remote-connection.js';
import type { Provider } from './provider.js';
import { RemoteError } from './remote-error.js';
import { SuspendedRemotes } from './suspended-remotes.js';

/** Bounds of one provider and of one user. */
export interface RegistryLimits extends CallLimits {
  readonly maxRemotesPerSession: number;
  readonly maxRemotesPerUser: number;
  readonly maxToolsBytesPerUser: number;
}

/** Told of every change, after it has happened. */
export interface RegistryListener {
  remoteConnected(connection: RemoteConnection): void;
  remoteDisconnected(connection: RemoteConnection): void;
}

interface UserRemotes {
  readonly byName: Map<string, RemoteConnection>;
  toolsBytes: number;
}

/**
 * What is connected: user, then remote name, then connection. Nothing crosses from one user to another, and
 * a name belongs to one connection at a time. Nothing is persisted.
 */
export class RemoteRegistry {
  readonly #users = new Map<string, UserRemotes>();
  /** Connections by provider, those that drain or are suspended included. */
  readonly #providers = new Map<Provider, Set<RemoteConnection>>();
  readonly #suspended: SuspendedRemotes;
  readonly #deadlines = new Deadlines();
  #isClosed = false;

  constructor(
    private readonly limits: RegistryLimits,
    private readonly listener: RegistryListener,
  ) {
    this.#suspended = new SuspendedRemotes(limits);
  }

  /** The connection of a name, if there is one. */
  find(userId: string, remotename: string): RemoteConnection | undefined {
    return this.#users.get(userId)?.byName.get(remotename);
  }

  /** All remotes of a user, in the order they connected. */
  list(userId: string): Iterable<RemoteConnection> {
    return this.#users.get(userId)?.byName.values() ?? [];
  }

  /**
   * Connects a remote at once.
   * @throws {RemoteError} `remote-already-connected`, `too-many-remotes`, `shutting-down`
   */
  connect(description: RemoteDescription, provider: Provider): RemoteConnection {
    this.requireRoom(description, provider);
    const connection = new RemoteConnection(description, provider, this.limits, this.#deadlines);
    this.#add(connection);
    this.listener.remoteConnected(connection);
    return connection;
  }

  /**
   * Makes sure that a remote could be connected.
   * @throws {RemoteError} `remote-already-connected`, `too-many-remotes`, `shutting-down`
   */
  requireRoom({ userId, remotename, tools }: RemoteDescription, provider: Provider): void {
    if (this.#isClosed) throw new RemoteError('shutting-down', 'the hub is shutting down');
    const user = this.#users.get(userId);
    if (user?.byName.has(remotename)) throw alreadyConnected(remotename);
    this.#requireRoomFor(user, provider, Buffer.byteLength(tools.text));
  }

  /**
   * A name is wanted that another provider may hold: a holder that no longer answers is a ghost and gives way; its own
   * cut-off is its provider's business, done before `probe` says that it is dead.
   * @returns a promise when that has to be waited for
   */
  yieldGhost({ userId, remotename }: RemoteDescription, provider: Provider): Promise<void> | undefined {
    const holder = this.find(userId, remotename);
    if (holder === undefined || holder.provider === provider) return undefined;
    const isAlive = holder.provider.probe();
    if (isAlive === true) return undefined;
    return isAlive.then((answered) => {
      if (!answered) this.disconnect(holder);
    });
  }

  /**
   * Ends this very connection; harmless when it has ended or its name belongs to another by now. With `drain`, its
   * calls in flight may still finish.
   */
  disconnect(connection: RemoteConnection, { drain = false } = {}): void {
    if (!this.#freeName(connection)) return;
    if (drain) connection.drain(() => this.#forget(connection));
    else this.#close(connection);
    this.listener.remoteDisconnected(connection);
  }

  /** Ends every remote of a provider that is gone. Touches only what this provider still owns. */
  disconnectProvider(provider: Provider, cause?: string): void {
    for (const connection of [...(this.#providers.get(provider) ?? [])]) {
      const wasListed = this.#freeName(connection);
      this.#close(connection, cause);
      if (wasListed) this.listener.remoteDisconnected(connection);
    }
  }

  /**
   * Ends every remote of a provider that was lost and may come back: as {@link disconnectProvider}, but calls in
   * flight of remotes that asked for it wait.
   * @returns whether any does
   */
  suspendProvider(provider: Provider): boolean {
    let isWaiting = false;
    for (const connection of [...(this.#providers.get(provider) ?? [])]) {
      const wasListed = this.#freeName(connection);
      if (connection.isResumable && this.#suspended.add(connection)) {
        connection.suspend(() => this.#forget(connection));
        isWaiting = true;
      } else this.#close(connection);
      if (wasListed) this.listener.remoteDisconnected(connection);
    }
    return isWaiting;
  }

  /** A provider has come back before it was forgotten: the calls that waited for it go on. */
  resumeProvider(provider: Provider): void {
    for (const connection of [...(this.#providers.get(provider) ?? [])]) {
      connection.resume(() => this.#forget(connection));
    }
  }

  /** Ends everything, at shutdown: pending calls fail with `shutting-down`, and nothing connects any more. */
  close(): void {
    this.#isClosed = true;
    for (const connections of [...this.#providers.values()]) {
      for (const connection of [...connections]) {
        this.#freeName(connection);
        connection.shutDown();
        this.#forget(connection);
      }
    }
    this.#deadlines[Symbol.dispose]();
  }

  /** How much is connected; for tests and figures. */
  counts(): { users: number; remotes: number; providers: number; pendingCalls: number } {
    let remotes = 0;
    let pendingCalls = 0;
    for (const { byName } of this.#users.values()) remotes += byName.size;
    for (const provider of this.#providers.keys()) pendingCalls += provider.pending.size;
    return { users: this.#users.size, remotes, providers: this.#providers.size, pendingCalls };
  }

  #requireRoomFor(user: UserRemotes | undefined, provider: Provider, toolsBytes: number): void {
    const { maxRemotesPerSession, maxRemotesPerUser, maxToolsBytesPerUser } = this.limits;
    if (this.#countOf(provider) >= maxRemotesPerSession) {
      throw new RemoteError(
        'too-many-remotes',
        `this session serves ${maxRemotesPerSession} remotes, the most it may`,
      );
    }
    if ((user?.byName.size ?? 0) >= maxRemotesPerUser) {
      throw new RemoteError(
        'too-many-remotes',
        `${maxRemotesPerUser} remotes are connected, the most a user may have`,
      );
    }
    if ((user?.toolsBytes ?? 0) + toolsBytes > maxToolsBytesPerUser) {
      throw new RemoteError(
        'too-many-remotes',
        `the functions of all remotes together would pass ${maxToolsBytesPerUser} bytes`,
      );
    }
  }

  /** What a session serves, without what an earlier one of its instance left. */
  #countOf(provider: Provider): number {
    let count = 0;
    for (const connection of this.#providers.get(provider) ?? []) {
      if (!this.#suspended.has(connection)) count += 1;
    }
    return count;
  }

  #add(connection: RemoteConnection): void {
    const { userId, remotename, provider } = connection;
    let user = this.#users.get(userId);
    if (user === undefined) this.#users.set(userId, (user = { byName: new Map(), toolsBytes: 0 }));
    user.byName.set(remotename, connection);
    user.toolsBytes += connection.toolsBytes;
    let connections = this.#providers.get(provider);
    if (connections === undefined) this.#providers.set(provider, (connections = new Set()));
    connections.add(connection);
  }

  #freeName(connection: RemoteConnection): boolean {
    const { userId, remotename } = connection;
    const user = this.#users.get(userId);
    if (user?.byName.get(remotename) !== connection) return false;
    user.byName.delete(remotename);
    user.toolsBytes -= connection.toolsBytes;
    if (user.byName.size === 0) this.#users.delete(userId);
    return true;
  }

  #close(connection: RemoteConnection, cause?: string): void {
    connection.close(cause);
    this.#forget(connection);
  }

  #forget(connection: RemoteConnection): void {
    const { provider } = connection;
    this.#suspended.delete(connection);
    const connections = this.#providers.get(provider);
    if (!connections?.delete(connection) || connections.size > 0) return;
    this.#providers.delete(provider);
    provider.forgotten?.();
  }
}

/** A name that is taken. The seed's text. */
export function alreadyConnected(remotename: string): RemoteError {
  return new RemoteError('remote-already-connected', `remote '${remotename}' is already connected`);
}

/** A name that nobody holds. The seed's text. */
export function notConnected(remotename: string): RemoteError {
  return new RemoteError('remote-not-connected', `no connected remote named '${remotename}'`);
}
