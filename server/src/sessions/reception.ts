import { randomUUID } from 'node:crypto';
import { closeCodes } from '@remotes-hub/protocol';
import type { JsonFields } from '../json/json-text.js';
import type { Logger } from '../observability/logger.js';
import type { Authenticator, Identity } from '../authentication/authenticate.js';
import { whenThere, type Soon } from '../soon.js';
import type { Dispatcher } from './dispatcher.js';
import { Entrance, type Arrival, type Hall } from './entrance.js';
import { instanceKeyOf } from './instance-key.js';
import { Session } from './session.js';
import type { SessionDirectory } from './session-directory.js';
import { Unauthenticated, type UnauthenticatedLimits } from './unauthenticated.js';

/** Bounds of connections on their way to a session. */
export interface ReceptionLimits extends UnauthenticatedLimits {
  readonly authenticationTimeoutMs: number;
  readonly maxAuthenticationFailures: number;
  readonly maxJsonDepth: number;
}

/** A session that is about to begin, of an instance that may have had one before. */
export interface ComingSession {
  readonly userId: string;
  readonly sessionId: string;
  readonly instanceKey: string;
  readonly speaksV1: boolean;
}

/** What the reception needs from the hub. */
export interface ReceptionOptions {
  readonly authenticator: Authenticator;
  readonly sessions: SessionDirectory;
  readonly dispatcher: Dispatcher;
  /**
   * Ends the earlier session of an instance on another node, and tells what is to be done when the new one has begun.
   * Never fails.
   */
  readonly arriving: (coming: ComingSession) => Soon<(session: Session) => void>;
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
      openSession: (arrival, identity, instanceId, isWanted) =>
        this.#openSession(arrival, identity, instanceId ?? arrival.instanceId, isWanted),
      dispatcher,
    };
  }

  /** Connections that have not logged in. */
  get waiting(): number {
    return this.#unauthenticated.size;
  }

  /** The entrance of a new connection, which gets its frames. */
  accept(arrival: Arrival): Entrance {
    const entrance = new Entrance(this.#hall, arrival);
    if (arrival.identity === undefined) entrance.awaitLogin();
    else entrance.enter(arrival.identity);
    return entrance;
  }

  /** @param isWanted whether the peer is still there, when there was something to wait for */
  #openSession(
    arrival: Arrival,
    identity: Identity,
    instanceId: string | undefined,
    isWanted: () => boolean,
  ): Soon<Session | undefined> {
    const { userId } = identity;
    const { speaksV1, peer } = arrival;
    const instanceKey = instanceId === undefined ? undefined : instanceKeyOf(instanceId);
    if (!this.#options.sessions.hasRoom(userId, instanceKey)) {
      peer.close(closeCodes.tooManyMessages, 'too many sessions');
      return undefined;
    }
    const sessionId = randomUUID();
    const begin = (begun?: (session: Session) => void): Session =>
      this.#begin(arrival, identity, { sessionId, instanceKey, begun });
    if (instanceKey === undefined) return begin();
    const arriving = this.#options.arriving({ userId, sessionId, instanceKey, speaksV1 });
    return whenThere(arriving, (begun) => (isWanted() ? begin(begun) : undefined));
  }

  #begin(arrival: Arrival, identity: Identity, beginning: Beginning): Session {
    const { sessions, sessionOpened, log } = this.#options;
    const { peer, address, speaksV1 } = arrival;
    const { sessionId: id, instanceKey, begun } = beginning;
    const session = new Session({ id, identity, peer, address, instanceKey, speaksV1 });
    sessions.add(session);
    begun?.(session);
    sessionOpened(session);
    session.onEnd(this.#logEnd);
    log.info({ userId: session.userId, sessionId: session.id, address }, 'session opened');
    arrival.loggedIn();
    return session;
  }

  readonly #logEnd = ({ userId, id: sessionId }: Session): void =>
    this.#options.log.info({ userId, sessionId }, 'session closed');
}

/** What a session begins with, beside its identity. */
interface Beginning {
  readonly sessionId: string;
  readonly instanceKey: string | undefined;
  readonly begun: ((session: Session) => void) | undefined;
}
