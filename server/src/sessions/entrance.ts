import { authenticateSchema, closeCodes, type Authenticate } from '@remotes-hub/protocol';
import type { Logger } from '../observability/logger.js';
import type { JsonFields, JsonText } from '../json/json-text.js';
import { AuthenticationError, type Authenticator, type Identity } from '../authentication/authenticate.js';
import type { Soon } from '../soon.js';
import { reply, type Dispatcher } from './dispatcher.js';
import { EnvelopeError, readEnvelope } from './envelope.js';
import { describeIssues, errorFields, failureFields } from './error-replies.js';
import type { ConnectionEnd, Peer, Session } from './session.js';
import type { Unauthenticated, UnauthenticatedConnection } from './unauthenticated.js';

/** Frames that wait for a login to be decided. */
const MAX_WAITING_FRAMES = 32;
const MAX_WAITING_BYTES = 64 * 1024;

/** Requests that a connection may make before it has logged in; each is refused. */
const MAX_REFUSED_FRAMES = 100;

/** A frame that came while a login was being decided. */
interface WaitingFrame {
  readonly bytes: number;
  readonly handle: () => void;
}

/** A new connection. */
export interface Arrival {
  readonly peer: Peer;
  /** The peer's address, without its port. */
  readonly address: string;
  readonly speaksV1: boolean;
  /** Set when it has logged in already. */
  readonly identity: Identity | undefined;
  readonly instanceId: string | undefined;
  /** Called when it has logged in. */
  readonly loggedIn: () => void;
}

/** What every entrance needs from the hub. */
export interface Hall {
  readonly authenticator: Authenticator;
  readonly unauthenticated: Unauthenticated;
  readonly authenticationTimeoutMs: number;
  readonly maxAuthenticationFailures: number;
  readonly maxDepth: number;
  readonly log: Logger;
  /**
   * Makes the session of a peer that has logged in; `undefined` when there is no room, and the peer is closed, or when it
   * is not wanted any more.
   */
  readonly openSession: (
    arrival: Arrival,
    identity: Identity,
    instanceId: string | undefined,
    isWanted: () => boolean,
  ) => Soon<Session | undefined>;
  /** The reply to the login, sent before anything else reaches the session. */
  readonly greet: (session: Session) => JsonFields;
  /** Takes the frames of sessions that have logged in. */
  readonly dispatcher: Pick<Dispatcher, 'dispatch'>;
}

/**
 * The way of one connection into the hub: nothing but `authenticate` before the login, a small bounded buffer
 * while it is being checked, then its session. Bounded in time, failures and frames.
 */
export class Entrance implements UnauthenticatedConnection {
  readonly #hall: Hall;
  readonly #arrival: Arrival;
  #session: Session | undefined;
  #deadline: NodeJS.Timeout | undefined;
  /** There while there are some. */
  #waiting: WaitingFrame[] | undefined;
  #waitingBytes = 0;
  #isLoggingIn = false;
  #isOver = false;
  #failures = 0;
  #refused = 0;

  constructor(hall: Hall, arrival: Arrival) {
    this.#hall = hall;
    this.#arrival = arrival;
  }

  get address(): string {
    return this.#arrival.address;
  }

  /** Who it is, for log lines: its session, or its address before the login. */
  get who(): object {
    const session = this.#session;
    if (session === undefined) return { address: this.address };
    return { userId: session.userId, sessionId: session.id };
  }

  /** Waits for a login, for so long. */
  awaitLogin(): void {
    const { unauthenticated, authenticationTimeoutMs } = this.#hall;
    this.#deadline = setTimeout(
      () => this.#turnAway(`no login within ${authenticationTimeoutMs} ms`),
      authenticationTimeoutMs,
    );
    unauthenticated.add(this);
  }

  /** Its peer has logged in by its upgrade request. */
  enter(identity: Identity): void {
    const opening = this.#open(identity, undefined);
    if (!(opening instanceof Promise)) return this.#entered(opening, identity);
    this.#isLoggingIn = true;
    opening.then(
      (session) => {
        this.#isLoggingIn = false;
        this.#entered(session, identity);
        this.#flush();
      },
      (error: unknown) => this.#failedUnexpectedly(error),
    );
  }

  get isLoggingIn(): boolean {
    return this.#isLoggingIn;
  }

  /** One text frame, in the order of arrival. */
  receive(frame: Buffer): void {
    if (this.#isOver) return;
    if (this.#session !== undefined) this.#hall.dispatcher.dispatch(this.#session, frame);
    else if (this.#isLoggingIn) this.#keep({ bytes: frame.length, handle: () => this.receive(frame) });
    else this.#beforeLogin(frame);
  }

  /** A frame of the kind that the wire does not have. */
  receiveBinary(): void {
    const fields = errorFields('malformed-message', 'binary frame: messages are text');
    if (this.#isLoggingIn) this.#keep({ bytes: 0, handle: () => this.receiveBinary() });
    else if (this.#session === undefined) this.#refuse(fields, undefined);
    else reply(this.#session, fields, undefined);
  }

  /** The connection has closed. */
  end(end?: ConnectionEnd): void {
    this.#isOver = true;
    this.#leave();
    this.#session?.end(end);
  }

  evict(): void {
    this.#turnAway('too many connections that have not logged in');
  }

  #keep(frame: WaitingFrame): void {
    this.#waiting ??= [];
    this.#waiting.push(frame);
    this.#waitingBytes += frame.bytes;
    if (this.#waiting.length <= MAX_WAITING_FRAMES && this.#waitingBytes <= MAX_WAITING_BYTES) return;
    this.#close(closeCodes.protocolAbuse, 'too much was sent before the login was decided');
  }

  #beforeLogin(frame: Buffer): void {
    let nonce: JsonText | undefined;
    try {
      const envelope = readEnvelope(frame, this.#hall.maxDepth);
      nonce = envelope.nonce;
      if (envelope.action !== 'authenticate')
        return this.#refuse(errorFields('not-authenticated', 'log in first'), nonce);
      const parsed = authenticateSchema.safeParse(envelope.value);
      if (!parsed.success)
        return this.#refuse(errorFields('invalid-body', describeIssues(parsed.error.issues)), nonce);
      this.#logIn(parsed.data, nonce).catch((error: unknown) => this.#failedUnexpectedly(error));
    } catch (error) {
      if (!(error instanceof EnvelopeError)) throw error;
      this.#refuse(failureFields(error, false), error.nonce);
    }
  }

  #refuse(fields: JsonFields, nonce: JsonText | undefined): void {
    this.#refused += 1;
    if (this.#refused > MAX_REFUSED_FRAMES) {
      return this.#close(closeCodes.protocolAbuse, 'too many requests before the login');
    }
    reply(this.#arrival.peer, fields, nonce);
  }

  async #logIn({ body }: Authenticate, nonce: JsonText | undefined): Promise<void> {
    this.#isLoggingIn = true;
    try {
      const identity = await this.#hall.authenticator.authenticate(body, { address: this.address });
      if (!this.#isOver) await this.#answerLogin(identity, body.instanceId, nonce);
    } catch (error) {
      if (!this.#isOver) this.#failed(error, nonce);
    }
    this.#isLoggingIn = false;
    this.#flush();
  }

  async #answerLogin(
    identity: Identity,
    instanceId: string | undefined,
    nonce: JsonText | undefined,
  ): Promise<void> {
    const opening = this.#open(identity, instanceId);
    const session = opening instanceof Promise ? await opening : opening;
    this.#entered(session, identity);
    if (session !== undefined) reply(session, this.#hall.greet(session), nonce);
  }

  #open(identity: Identity, instanceId: string | undefined): Soon<Session | undefined> {
    return this.#hall.openSession(this.#arrival, identity, instanceId, () => !this.#isOver);
  }

  /** Without a session there was no room, or the peer has gone meanwhile. */
  #entered(session: Session | undefined, identity: Identity): void {
    this.#leave();
    if (session === undefined) return this.end();
    this.#session = session;
    session.expireAt(identity.expiresAt);
  }

  #failedUnexpectedly(error: unknown): void {
    this.#hall.log.error({ err: error, ...this.who }, 'login failed unexpectedly');
    this.#close(closeCodes.notAuthenticated, 'the login failed');
  }

  #failed(error: unknown, nonce: JsonText | undefined): void {
    if (!(error instanceof AuthenticationError))
      this.#hall.log.error({ err: error, ...this.who }, 'authentication failed');
    reply(this.#arrival.peer, failureFields(error, false), nonce);
    this.#failures += 1;
    if (this.#failures >= this.#hall.maxAuthenticationFailures) this.#turnAway('too many failed logins');
  }

  #flush(): void {
    while (this.#waiting !== undefined && !this.#isLoggingIn && !this.#isOver) {
      const frame = this.#waiting.shift();
      if (this.#waiting.length === 0) this.#waiting = undefined;
      this.#waitingBytes -= frame?.bytes ?? 0;
      frame?.handle();
    }
  }

  #turnAway(reason: string): void {
    this.#close(closeCodes.notAuthenticated, reason);
  }

  #close(code: Parameters<Peer['close']>[0], reason: string): void {
    this.#arrival.peer.close(code, reason);
    this.end({ code });
  }

  #leave(): void {
    if (this.#deadline !== undefined) this.#hall.unauthenticated.delete(this);
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
    if (this.#isOver) this.#waiting = undefined;
  }
}
