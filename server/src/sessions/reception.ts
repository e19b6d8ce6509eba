import { randomUUID } from 'node:crypto';
import { closeCodes } from '@remotes-hub/protocol';
import type { JsonFields } from '../json/json-text.js';
import type { Logger } from '../observability/logger.js';
import type { Authenticator, Identity } from '../authentication/authenticate.js';
import type { Dispatcher } from './dispatcher.js';
import { Entrance, type Arrival, type Hall } from './entrance.js';
import { Session } from './session.js';
import type { SessionDirectory } from './session-directory.js';
import { Unauthenticated, type UnauthenticatedLimits } from './unauthenticated.js';

/** Bounds of connections on their way to a session. */
export interface ReceptionLimits extends UnauthenticatedLimits {
  readonly authenticationTimeoutMs: number;
  readonly maxAuthenticationFailures: number;
  readonly maxJsonDepth: number;
}

/** What the reception needs from the hub. */
export interface ReceptionOptions {
  readonly authenticator: Authenticator;
  readonly sessions: SessionDirectory;
  readonly dispatcher: Dispatcher;
  /** A session has begun, and an earlier one of its instance has ended. */
  readonly sessionOpened: (session: Session) => void;
  /** The reply to the login. */
  readonly greet: (session: Session) => JsonFields;
  readonly limits: ReceptionLimits;
  readonly log: Logger;
}

/** Takes connections in: those that have logged in become sessions at once, the others at their entrance. */
export class Reception {
  readonly #options: ReceptionOptions;
  readonly #unauthenticated: Unauthenticated;
  readonly #hall: Hall;

  constructor(options: ReceptionOptions) {
    const { authenticator, limits, log, greet, dispatcher } = options;
    this.#options = options;
    this.#unauthenticated = new Unauthenticated(limits);
    this.#hall = {
      authenticator,
      log,
      greet,
      unauthenticated: this.#unauthenticated,
      authenticationTimeoutMs: limits.authenticationTimeoutMs,
      maxAuthenticationFailures: limits.maxAuthenticationFailures,
      maxDepth: limits.maxJsonDepth,
      openSession: (arrival, identity, instanceId) =>
        this.#openSession(arrival, identity, instanceId ?? arrival.instanceId),
      dispatcher,
    };
  }

  /** Connections that have not logged in. */
  get waiting(): number {
    return this.#unauthenticated.size;
  }

  /** The entrance of a new connection, which gets its frames. */
  accept(arrival: Arrival): Entrance {
    const { identity, instanceId } = arrival;
    const session = identity && this.#openSession(arrival, identity, instanceId);
    const entrance = new Entrance(this.#hall, arrival, session);
    // without a session in spite of an identity there was no room, and the peer is closed already
    if (identity === undefined) entrance.awaitLogin();
    else session?.expireAt(identity.expiresAt);
    return entrance;
  }

  #openSession(arrival: Arrival, identity: Identity, instanceId: string | undefined): Session | undefined {
    const { sessions, sessionOpened, log } = this.#options;
    const { peer, address, speaksV1 } = arrival;
    if (!sessions.hasRoom(identity.userId, instanceId)) {
      peer.close(closeCodes.tooManyMessages, 'too many sessions');
      return undefined;
    }
    const session = new Session({ id: randomUUID(), identity, peer, address, instanceId, speaksV1 });
    sessions.add(session);
    sessionOpened(session);
    session.onEnd(this.#logEnd);
    log.info({ userId: session.userId, sessionId: session.id, address }, 'session opened');
    arrival.loggedIn();
    return session;
  }

  readonly #logEnd = ({ userId, id: sessionId }: Session): void =>
    this.#options.log.info({ userId, sessionId }, 'session closed');
}
