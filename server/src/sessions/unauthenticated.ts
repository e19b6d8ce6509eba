import { addressKey } from '../authentication/address-key.js';

/** A connection that has not logged in yet. */
export interface UnauthenticatedConnection {
  readonly address: string;
  /** A login is being checked: such a connection is spared as long as there are others. */
  readonly isLoggingIn: boolean;
  /** Closes it to make room. */
  evict(): void;
}

/** Bounds of connections that have not logged in. */
export interface UnauthenticatedLimits {
  readonly maxUnauthenticated: number;
  readonly maxUnauthenticatedPerAddress: number;
}

/**
 * Connections that have not logged in, by address (see {@link addressKey}). They are bounded by pushing out the
 * oldest of the address that has too many, so that idle sockets never keep a genuine client out.
 */
export class Unauthenticated {
  readonly #addresses = new Map<string, Set<UnauthenticatedConnection>>();
  #size = 0;

  constructor(private readonly limits: UnauthenticatedLimits) {}

  get size(): number {
    return this.#size;
  }

  add(connection: UnauthenticatedConnection): void {
    const key = addressKey(connection.address);
    let connections = this.#addresses.get(key);
    if (connections === undefined) this.#addresses.set(key, (connections = new Set()));
    if (connections.size >= this.limits.maxUnauthenticatedPerAddress) evictOldest(connections);
    else if (this.#size >= this.limits.maxUnauthenticated) evictOldest(this.#largest() ?? connections);
    // an eviction may have emptied and dropped this address
    this.#addresses.set(key, connections);
    connections.add(connection);
    this.#size += 1;
  }

  delete(connection: UnauthenticatedConnection): void {
    const key = addressKey(connection.address);
    const connections = this.#addresses.get(key);
    if (!connections?.delete(connection)) return;
    this.#size -= 1;
    if (connections.size === 0) this.#addresses.delete(key);
  }

  #largest(): Set<UnauthenticatedConnection> | undefined {
    let largest: Set<UnauthenticatedConnection> | undefined;
    for (const connections of this.#addresses.values()) {
      if (largest === undefined || connections.size > largest.size) largest = connections;
    }
    return largest;
  }
}

function evictOldest(connections: ReadonlySet<UnauthenticatedConnection>): void {
  let oldest: UnauthenticatedConnection | undefined;
  for (const connection of connections) {
    oldest ??= connection;
    if (connection.isLoggingIn) continue;
    oldest = connection;
    break;
  }
  oldest?.evict();
}
