import { closeCodes, type HubAction } from '@remotes-hub/protocol';
import { writeJson } from '../json/json-text.js';
import type { Session } from './session.js';

/** Bounds of all sessions and of one user's. */
export interface SessionLimits {
  readonly maxSessions: number;
  readonly maxSessionsPerUser: number;
}

/** Told when a user's last session has left. */
export interface SessionDirectoryListener {
  userLeft(userId: string): void;
}

/** All sessions, by user, and the events that go to them. */
export class SessionDirectory {
  readonly #users = new Map<string, Set<Session>>();
  readonly #events: { readonly userId: string; readonly text: string }[] = [];
  #size = 0;

  constructor(
    private readonly limits: SessionLimits,
    private readonly listener: SessionDirectoryListener,
  ) {}

  /** How many sessions there are. */
  get size(): number {
    return this.#size;
  }

  /** Whether one more session of this user, or of anybody, fits. */
  hasRoom(userId?: string): boolean {
    if (this.#size >= this.limits.maxSessions) return false;
    return userId === undefined || (this.#users.get(userId)?.size ?? 0) < this.limits.maxSessionsPerUser;
  }

  /**
   * Adds a session until it ends. An earlier session of the same instance is closed first, so that its names
   * are free before the new one can ask for them.
   */
  add(session: Session): void {
    this.#replaceInstance(session);
    let sessions = this.#users.get(session.userId);
    if (sessions === undefined) this.#users.set(session.userId, (sessions = new Set()));
    sessions.add(session);
    this.#size += 1;
    session.onEnd(() => this.#remove(session));
  }

  /**
   * Sends an event to every session of a user. It leaves after the work at hand, so that it never overtakes the
   * reply to the request that caused it; events keep their order.
   */
  broadcast(userId: string, action: HubAction, body: object): void {
    if (!this.#users.has(userId)) return;
    this.#events.push({ userId, text: writeJson({ action, body }) });
    if (this.#events.length === 1) process.nextTick(() => this.#flush());
  }

  /** Every session there is. */
  all(): Session[] {
    return [...this.#users.values()].flatMap((sessions) => [...sessions]);
  }

  #flush(): void {
    for (const { userId, text } of this.#events.splice(0)) {
      for (const session of this.#users.get(userId) ?? []) session.send(text);
    }
  }

  #replaceInstance({ userId, instanceId }: Session): void {
    if (instanceId === undefined) return;
    for (const earlier of this.#users.get(userId) ?? []) {
      if (earlier.instanceId === instanceId)
        earlier.close(closeCodes.replaced, 'replaced by a later session of this instance');
    }
  }

  #remove(session: Session): void {
    const sessions = this.#users.get(session.userId);
    if (!sessions?.delete(session)) return;
    this.#size -= 1;
    if (sessions.size > 0) return;
    this.#users.delete(session.userId);
    this.listener.userLeft(session.userId);
  }
}
