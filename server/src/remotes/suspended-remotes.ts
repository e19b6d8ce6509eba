import type { RemoteConnection } from './remote-connection.js';

/** Bounds of what one user may leave behind. */
export interface SuspendedLimits {
  readonly maxRemotesPerUser: number;
  readonly maxToolsBytesPerUser: number;
}

interface Leftovers {
  readonly connections: Set<RemoteConnection>;
  toolsBytes: number;
}

/**
 * Remotes that outlived their session because of calls in flight: those that wait for their provider to come back,
 * and those whose provider has come back and still owes answers. Bounded per user like the connected ones.
 */
export class SuspendedRemotes {
  readonly #users = new Map<string, Leftovers>();

  constructor(private readonly limits: SuspendedLimits) {}

  /** Takes a connection in; false when its user has left too much behind already. */
  add(connection: RemoteConnection): boolean {
    const { userId, toolsBytes } = connection;
    const user = this.#users.get(userId) ?? { connections: new Set(), toolsBytes: 0 };
    if (user.connections.has(connection)) return true; // its provider is lost once more
    if (user.connections.size >= this.limits.maxRemotesPerUser) return false;
    if (user.toolsBytes + toolsBytes > this.limits.maxToolsBytesPerUser) return false;
    user.connections.add(connection);
    user.toolsBytes += toolsBytes;
    this.#users.set(userId, user);
    return true;
  }

  delete(connection: RemoteConnection): void {
    const user = this.#users.get(connection.userId);
    if (!user?.connections.delete(connection)) return;
    user.toolsBytes -= connection.toolsBytes;
    if (user.connections.size === 0) this.#users.delete(connection.userId);
  }

  has(connection: RemoteConnection): boolean {
    return this.#users.get(connection.userId)?.connections.has(connection) === true;
  }
}
