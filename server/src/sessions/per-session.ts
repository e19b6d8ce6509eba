import type { Session } from './session.js';

/** One thing a session, made when it is first needed and disposed of when the session ends. */
export class PerSession<T extends Disposable> {
  readonly #things = new Map<Session, T>();

  constructor(private readonly make: (session: Session) => T) {}

  /** How many there are. */
  get size(): number {
    return this.#things.size;
  }

  /** The session's, made now if it has none. */
  of(session: Session): T {
    const existing = this.#things.get(session);
    if (existing !== undefined) return existing;
    const thing = this.make(session);
    this.#things.set(session, thing);
    session.onEnd(() => {
      this.#things.delete(session);
      thing[Symbol.dispose]();
    });
    return thing;
  }

  /** The session's, if it has one. */
  find(session: Session): T | undefined {
    return this.#things.get(session);
  }
}
