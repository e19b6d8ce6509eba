import type { NameHolder } from './backplane.js';

/** Routes that are kept; beyond it all are found anew. */
const MAX_ROUTES = 50_000;

/**
 * Where the remotes of other nodes are, as far as this node has asked. A route may be out of date: whoever follows it is
 * told so at its end, and asks again.
 */
export class Routes {
  readonly #users = new Map<string, Map<string, NameHolder>>();
  #size = 0;

  find(userId: string, remotename: string): NameHolder | undefined {
    return this.#users.get(userId)?.get(remotename);
  }

  keep(userId: string, holder: NameHolder): void {
    if (this.#size >= MAX_ROUTES) this.clear();
    let routes = this.#users.get(userId);
    if (routes === undefined) this.#users.set(userId, (routes = new Map<string, NameHolder>()));
    if (!routes.has(holder.remotename)) this.#size += 1;
    routes.set(holder.remotename, holder);
  }

  forget(userId: string, remotename: string): void {
    const routes = this.#users.get(userId);
    if (!routes?.delete(remotename)) return;
    this.#size -= 1;
    if (routes.size === 0) this.#users.delete(userId);
  }

  /** Forgets every route to a node. */
  forgetNode(nodeId: string): void {
    for (const [userId, routes] of this.#users) {
      for (const [remotename, holder] of routes) {
        if (holder.nodeId === nodeId) this.forget(userId, remotename);
      }
    }
  }

  clear(): void {
    this.#users.clear();
    this.#size = 0;
  }
}
