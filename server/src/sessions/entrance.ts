import { authenticateSchema, closeCodes, type Authenticate } from '@remotes-hub/protocol';
import type { Logger } from '../observability/logger.js';
import type { JsonFields, JsonText } from '../json/json-text.js';
import { AuthenticationError, type Authenticator, type Identity } from '../authentication/authenticate.js';
import { reply } from './dispatcher.js';
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

/** What an entrance needs from the hub. */
export interface EntranceOptions {
  readonly peer: Peer;
  readonly address: string;
  readonly authenticator: Authenticator;
  readonly unauthenticated: Unauthenticated;
  readonly authenticationTimeoutMs: number;
  readonly maxAuthenticationFailures: number;
  readonly maxDepth: number;
  readonly log: Logger;
  /** Makes the session of a peer that has logged in; `undefined` when there is no room, and the peer is closed. */
  readonly openSession: (identity: Identity, instanceId: string | undefined) => Session | undefined;
  /** The reply to the login, sent before anything else reaches the session. */
  readonly greet: (session: Session) => JsonFields;
  /** A frame of a session that has logged in. */
  readonly dispatch: (session: Session, frame: Buffer) => void;
}

/**
 * The way of one connection into the hub: nothing but `authenticate` before the login, a small bounded buffer
 * while it is being checked, then its session. Bounded in time, failures and frames.
 */
export class Entrance implements UnauthenticatedConnection {
  readonly address: string;
  readonly #options: EntranceOptions;
  #session: Session | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #waiting: WaitingFrame[] = [];
  #waitingBytes = 0;
  #isLoggingIn = false;
  #isOver = false;
  #failures = 0;
  #refused = 0;

  /** @param session of a peer that has logged in already */
  constructor(options: EntranceOptions, session?: Session) {
    this.#options = options;
    this.address = options.address;
    this.#session = session;
  }

  /** Waits for a login, for so long. */
  awaitLogin(): void {
    const { unauthenticated, authenticationTimeoutMs } = this.#options;
    this.#deadline = setTimeout(
      () => this.#turnAway(`no login within ${authenticationTimeoutMs} ms`),
      authenticationTimeoutMs,
    );
    unauthenticated.add(this);
  }

  get isLoggingIn(): boolean {
    return this.#isLoggingIn;
  }

  /** One text frame, in the order of arrival. */
  receive(frame: Buffer): void {
    if (this.#isOver) return;
    if (this.#session !== undefined) this.#options.dispatch(this.#session, frame);
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
    this.#waiting.push(frame);
    this.#waitingBytes += frame.bytes;
    if (this.#waiting.length <= MAX_WAITING_FRAMES && this.#waitingBytes <= MAX_WAITING_BYTES) return;
    this.#close(closeCodes.protocolAbuse, 'too much was sent before the login was decided');
  }

  #beforeLogin(frame: Buffer): void {
    let nonce: JsonText | undefined;
    try {
      const envelope = readEnvelope(frame, this.#options.maxDepth);
      nonce = envelope.nonce;
      if (envelope.action !== 'authenticate')
        return this.#refuse(errorFields('not-authenticated', 'log in first'), nonce);
      const parsed = authenticateSchema.safeParse(envelope.value);
      if (!parsed.success)
        return this.#refuse(errorFields('invalid-body', describeIssues(parsed.error.issues)), nonce);
      this.#logIn(parsed.data, nonce).catch((error: unknown) => {
        this.#options.log.error({ err: error }, 'login failed unexpectedly');
        this.#close(closeCodes.notAuthenticated, 'the login failed');
      });
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
    reply(this.#options.peer, fields, nonce);
  }

  async #logIn({ body }: Authenticate, nonce: JsonText | undefined): Promise<void> {
    this.#isLoggingIn = true;
    try {
      const identity = await this.#options.authenticator.authenticate(body, { address: this.address });
      if (!this.#isOver) this.#enter(identity, body.instanceId, nonce);
    } catch (error) {
      if (!this.#isOver) this.#failed(error, nonce);
    }
    this.#isLoggingIn = false;
    this.#flush();
  }

  #enter(identity: Identity, instanceId: string | undefined, nonce: JsonText | undefined): void {
    const session = this.#options.openSession(identity, instanceId);
    this.#leave();
    if (session === undefined) return this.end();
    this.#session = session;
    session.expireAt(identity.expiresAt);
    reply(session, this.#options.greet(session), nonce);
  }

  #failed(error: unknown, nonce: JsonText | undefined): void {
    if (!(error instanceof AuthenticationError))
      this.#options.log.error({ err: error }, 'authentication failed');
    reply(this.#options.peer, failureFields(error, false), nonce);
    this.#failures += 1;
    if (this.#failures >= this.#options.maxAuthenticationFailures) this.#turnAway('too many failed logins');
  }

  #flush(): void {
    while (this.#waiting.length > 0 && !this.#isLoggingIn && !this.#isOver) {
      const frame = this.#waiting.shift();
      this.#waitingBytes -= frame?.bytes ?? 0;
      frame?.handle();
    }
  }

  #turnAway(reason: string): void {
    this.#close(closeCodes.notAuthenticated, reason);
  }

  #close(code: Parameters<Peer['close']>[0], reason: string): void {
    this.#options.peer.close(code, reason);
    this.end({ code });
  }

  #leave(): void {
    clearTimeout(this.#deadline);
    this.#options.unauthenticated.delete(this);
    if (this.#isOver) this.#waiting = [];
  }
}
