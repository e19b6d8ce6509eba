const UNKNOWN = -1;

/** What is known of another node. */
interface OtherNode {
  seenAt: number;
  /** Counts how often it was cut off; what was sent to it before is lost. */
  generation: number;
}

/**
 * The other nodes, as far as their heartbeats tell. Times are milliseconds of `performance.now`.
 */
export class OtherNodes {
  readonly #nodes = new Map<string, OtherNode>();

  /** Notes a heartbeat. @returns whether what was on its way to it is lost */
  seen(nodeId: string, generation: number): boolean {
    const known = this.#nodes.get(nodeId);
    this.#nodes.set(nodeId, { seenAt: performance.now(), generation });
    return known !== undefined && known.generation !== generation && known.generation !== UNKNOWN;
  }

  /** Redis says that it lives, though it has not been heard. */
  add(nodeId: string, generation: number): void {
    if (!this.#nodes.has(nodeId)) this.#nodes.set(nodeId, { seenAt: performance.now(), generation });
  }

  /** Whether it was heard within this time. */
  wasSeenWithin(nodeId: string, ms: number): boolean {
    const known = this.#nodes.get(nodeId);
    return known !== undefined && performance.now() - known.seenAt <= ms;
  }

  /** Those that were not heard for longer than this. */
  silentFor(ms: number): string[] {
    return [...this.#nodes.keys()].filter((nodeId) => !this.wasSeenWithin(nodeId, ms));
  }

  delete(nodeId: string): boolean {
    return this.#nodes.delete(nodeId);
  }

  /** Nobody could be heard for a while, so silence tells nothing, nor what has changed meanwhile. */
  hearAgain(): void {
    for (const known of this.#nodes.values()) {
      known.seenAt = performance.now();
      known.generation = UNKNOWN;
    }
  }
}
