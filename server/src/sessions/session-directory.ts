import { closeCodes, type HubAction } from '@remotes-hub/protocol';
import { writeJson } from '../json/json-text.js';
import type { Session } from './session.js';

/** Bounds of all sessions and of one user's. */
export interface SessionLimits {
  readonly maxSessions: number;
  readonly maxSessionsPerUser: number;
}

/** Told when a user comes and goes. */
export interface SessionDirectoryListener {
  /** The first session of a user who had none. */
  userArrived?(userId: string): void;
  /** A user's last session has left. */
  userLeft(userId: string): void;
}

/** All sessions, by user, and the events that go to them. */
export class SessionDirectory {
  readonly #users = new Map<string, Set<Session>>();
  readonly #events: { readonly sessions: readonly Session[]; readonly text: string }[] = [];
  #size = 0;

  constructor(
    private readonly limits: SessionLimits,
    private readonly listener: SessionDirectoryListener,
  ) {}

  /** How many sessions there are. */
  get size(): number {
    return this.#size;
  }

  /** Whether one more session of this user, or of anybody, fits. It does where it takes an earlier one's place. */
  hasRoom(userId?: string, instanceId?: string): boolean {
    if (userId !== undefined && this.#ofInstance(userId, instanceId).length > 0) return true;
    if (this.#size >= this.limits.maxSessions) return false;
    return userId === undefined || (this.#users.get(userId)?.size ?? 0) < this.limits.maxSessionsPerUser;
  }

  /**
   * Adds a session until it ends, and tells its user's sessions. An earlier session of the same instance is then
   * closed, so that its names are free before the new one can ask for them; the user has not left in between.
   */
  add(session: Session): void {
    const earlier = this.#ofInstance(session.userId, session.instanceId);
    let sessions = this.#users.get(session.userId);
    const isFirst = sessions === undefined;
    if (sessions === undefined) this.#users.set(session.userId, (sessions = new Set()));
    sessions.add(session);
    this.#size += 1;
    if (isFirst) this.listener.userArrived?.(session.userId);
    session.onEnd(this.#remove);
    this.broadcast(session.userId, 'session-opened', { sessionId: session.id });
    for (const replaced of earlier)
      replaced.close(closeCodes.replaced, 'replaced by a later session of this instance');
  }

  /**
   * Sends an event to every session that the user has now. It leaves after the work at hand, so that it never
   * overtakes the reply to the request that caused it; events keep their order.
   */
  broadcast(userId: string, action: HubAction, body: object): void {
    const sessions = this.#users.get(userId);
    if (sessions === undefined) return;
    this.#events.push({ sessions: [...sessions], text: writeJson({ action, body }) });
    if (this.#events.length === 1) process.nextTick(() => this.#flush());
  }

  /** Every session there is. */
  all(): Session[] {
    return [...this.#users.values()].flatMap((sessions) => [...sessions]);
  }

  #flush(): void {
    for (const { sessions, text } of this.#events.splice(0)) {
      for (const session of sessions) session.send(text);
    }
  }

  #ofInstance(userId: string, instanceId: string | undefined): Session[] {
    if (instanceId === undefined) return [];
    return [...(this.#users.get(userId) ?? [])].filter((session) => session.instanceId === instanceId);
  }

  readonly #remove = (session: Session): void => {
    const sessions = this.#users.get(session.userId);
    if (!sessions?.delete(session)) return;
    this.#size -= 1;
    if (sessions.size > 0) return;
    this.#users.delete(session.userId);
    this.listener.userLeft(session.userId);
  };
}
