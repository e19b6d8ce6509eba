import { closeCodes, type HubAction } from '@remotes-hub/protocol';
import { writeJson } from '../json/json-text.js';
import { whenThere, type Soon } from '../soon.js';
import type { Session } from './session.js';

/** Bounds of all sessions and of one user's. */
export interface SessionLimits {
  readonly maxSessions: number;
  readonly maxSessionsPerUser: number;
}

/** Told when a user comes and goes, and of events. */
export interface SessionDirectoryListener {
  /** The first session of a user who had none. @returns when the user's events of other nodes come in */
  userArrived?(userId: string): Soon<void>;
  /** A user's last session has left. */
  userLeft(userId: string): void;
  /** Events for the sessions that a user has on other nodes, as the texts of their frames. */
  publish?(userId: string, events: readonly string[]): void;
}

/** One event, and who gets it. */
interface Broadcast {
  readonly userId: string;
  readonly sessions: readonly Session[];
  readonly text: string;
  readonly isStillSo: (() => boolean) | undefined;
}

/** All sessions of this node, by user, and the events that go to them and to those of other nodes. */
export class SessionDirectory {
  readonly #users = new Map<string, Set<Session>>();
  readonly #events: Broadcast[] = [];
  /** Users whose events of other nodes do not come in yet. */
  readonly #arriving = new Map<string, Promise<void>>();
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
  hasRoom(userId?: string, instanceKey?: string): boolean {
    if (userId !== undefined && this.ofInstance(userId, instanceKey).length > 0) return true;
    if (this.#size >= this.limits.maxSessions) return false;
    return userId === undefined || (this.#users.get(userId)?.size ?? 0) < this.limits.maxSessionsPerUser;
  }

  /**
   * Adds a session until it ends, and tells its user's sessions. An earlier session of the same instance is then
   * closed, so that its names are free before the new one can ask for them; the user has not left in between. Once a
   * session has got its own `session-opened` it gets every event, those of other nodes too.
   */
  add(session: Session): void {
    const earlier = this.ofInstance(session.userId, session.instanceKey);
    let sessions = this.#users.get(session.userId);
    const isFirst = sessions === undefined;
    if (sessions === undefined) this.#users.set(session.userId, (sessions = new Set()));
    sessions.add(session);
    this.#size += 1;
    if (isFirst) this.#arrived(session.userId);
    session.onEnd(this.#remove);
    void whenThere(this.#arriving.get(session.userId), () =>
      this.broadcast(session.userId, 'session-opened', { sessionId: session.id }),
    );
    for (const replaced of earlier)
      replaced.close(closeCodes.replaced, 'replaced by a later session of this instance');
  }

  /**
   * Sends an event to every session that the user has now, on any node. It leaves after the work at hand, so that it never
   * overtakes the reply to the request that caused it; events keep their order.
   * @param isStillSo asked then: what is not so any more is not told
   */
  broadcast(userId: string, action: HubAction, body: object, isStillSo?: () => boolean): void {
    const sessions = this.#users.get(userId);
    if (sessions === undefined && this.listener.publish === undefined) return;
    this.#events.push({
      userId,
      sessions: [...(sessions ?? [])],
      text: writeJson({ action, body }),
      isStillSo,
    });
    if (this.#events.length === 1) process.nextTick(() => this.#flush());
  }

  /** Sends events of other nodes, as the texts of their frames, to every session that the user has here. */
  deliver(userId: string, events: readonly string[]): void {
    for (const session of this.#users.get(userId) ?? []) for (const text of events) session.send(text);
  }

  /** The sessions of an instance: one, or none. */
  ofInstance(userId: string, instanceKey: string | undefined): Session[] {
    if (instanceKey === undefined) return [];
    return [...(this.#users.get(userId) ?? [])].filter((session) => session.instanceKey === instanceKey);
  }

  /** Every session there is. */
  all(): Session[] {
    return [...this.#users.values()].flatMap((sessions) => [...sessions]);
  }

  #arrived(userId: string): void {
    const arriving = this.listener.userArrived?.(userId);
    if (arriving === undefined) return;
    this.#arriving.set(userId, arriving);
    void arriving.finally(() => {
      if (this.#arriving.get(userId) === arriving) this.#arriving.delete(userId);
    });
  }

  #flush(): void {
    const events = this.#events.splice(0).filter(({ isStillSo }) => isStillSo?.() ?? true);
    for (const { sessions, text } of events) for (const session of sessions) session.send(text);
    if (this.listener.publish === undefined) return;
    for (const [userId, texts] of textsByUser(events)) this.listener.publish(userId, texts);
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

/** The events of one user travel together. */
function textsByUser(events: readonly Broadcast[]): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  for (const { userId, text } of events) {
    const texts = users.get(userId);
    if (texts === undefined) users.set(userId, [text]);
    else texts.push(text);
  }
  return users;
}
