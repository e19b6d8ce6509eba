import type { RemoteRegistry } from './remote-registry.js';
import type { ServingSession } from './serving-session.js';
import { SessionProvider } from './session-provider.js';

/** What the providers of sessions need of the registry. */
type ProvidersRegistry = Pick<RemoteRegistry, 'disconnectProvider' | 'suspendProvider' | 'resumeProvider'>;

/**
 * The sessions that serve, as providers. A provider is made when its session first serves, and ends with it; but
 * when the session was lost and calls may wait for its instance, it is kept until that instance comes back or
 * nothing waits any more.
 */
export class SessionProviders {
  readonly #bySession = new Map<ServingSession, SessionProvider>();
  /** By user and instance; at most one of each, since the next session of the instance takes it over. */
  readonly #suspended = new Map<string, SessionProvider>();

  /** @param instanceForgotten told when nothing waits for an instance any more that was lost */
  constructor(
    private readonly registry: ProvidersRegistry,
    private readonly instanceForgotten: (userId: string, instanceKey: string) => void = () => undefined,
  ) {}

  /** How many there are, of sessions and of those that may come back. */
  get size(): number {
    return this.#bySession.size + this.#suspended.size;
  }

  /** The session's, made now if it has none. */
  of(session: ServingSession): SessionProvider {
    const existing = this.#bySession.get(session);
    if (existing !== undefined) return existing;
    const key = keyOf(session);
    const provider = new SessionProvider(session, (forgotten) => {
      if (key === undefined || this.#suspended.get(key) !== forgotten) return;
      this.#suspended.delete(key);
      this.instanceForgotten(session.userId, session.instanceKey ?? '');
    });
    this.#give(provider, session);
    return provider;
  }

  /** The session's, if it has one. */
  find(session: ServingSession): SessionProvider | undefined {
    return this.#bySession.get(session);
  }

  /** A session has begun: it takes over what a lost one of its instance left, if that still waits. */
  resume(session: ServingSession): SessionProvider | undefined {
    const key = keyOf(session);
    const provider = key === undefined ? undefined : this.#suspended.get(key);
    if (key === undefined || provider === undefined) return undefined;
    this.#suspended.delete(key);
    provider.resume(session);
    this.#give(provider, session);
    this.registry.resumeProvider(provider);
    return provider;
  }

  /** Whether calls wait for an instance to come back. */
  isSuspended(userId: string, instanceKey: string): boolean {
    return this.#suspended.has(keyOf({ userId, instanceKey }) ?? '');
  }

  #give(provider: SessionProvider, session: ServingSession): void {
    this.#bySession.set(session, provider);
    session.onEnd(() => this.#sessionEnded(session, provider));
  }

  #sessionEnded(session: ServingSession, provider: SessionProvider): void {
    this.#bySession.delete(session);
    const key = session.isResumable ? keyOf(session) : undefined;
    if (key === undefined) return this.registry.disconnectProvider(provider, session.endCause);
    if (!this.registry.suspendProvider(provider)) return;
    provider.suspend();
    this.#suspended.set(key, provider);
  }
}

/** Names an instance of a user; a session without an instance never comes back. */
function keyOf({ userId, instanceKey }: Pick<ServingSession, 'userId' | 'instanceKey'>): string | undefined {
  return instanceKey === undefined ? undefined : JSON.stringify([userId, instanceKey]);
}
