import type { Credentials, JsonObject } from '@remotes-hub/protocol';
import { closeCodes } from '@remotes-hub/protocol/close-codes';
import { MAX_MESSAGE_BYTES } from '@remotes-hub/protocol/limits';
import type { PendingRequests } from './calls.js';
import { Connection, openSocket } from './connection.js';
import { currentCredentials, isRenewable, type ConnectCredentials } from './credentials.js';
import { HubError, lostConnection, openingFailure, refusedConnection, type Close } from './errors.js';
import type { HubState, StateChange } from './hub-state.js';
import { claimInstanceId, type InstanceId } from './instance-id.js';
import type { Line } from './line.js';
import { Liveness } from './liveness.js';
import type { ConnectSettings } from './options.js';
import {
  STABLE_MS,
  isRefusedLogin,
  mayReconnect,
  mayTryAgain,
  readHint,
  reconnectDelay,
} from './reconnect.js';
import { readLogin, type Login } from './replies.js';
import { sendRequest } from './requests.js';
import { TokenRenewal } from './token-renewal.js';
import { Waiters } from './waiters.js';
import { onWakeUp } from './wake-ups.js';

/** Why an attempt is given up that nobody waits for any more. */
const CLOSED = 'the session was closed';

function givenUp(reason: string): HubError {
  return new HubError(refusedConnection({ code: 1006, reason }));
}

/** Who is told what happens to the connection. */
export interface LifeOwner {
  received(message: JsonObject): void;
  /**
   * A login was accepted; `isNew` when it is that of a new connection. Called before the next message is looked at;
   * what is sent now goes first.
   */
  loggedIn(login: Login, isNew: boolean): void;
  stateChanged(change: StateChange): void;
  /** The connection is lost; `isFinal` when no other will be opened. */
  lost(close: Close, isFinal: boolean): void;
}

/**
 * The life of a session's connection over all its sockets: opens one, logs in, finds out when it is dead, and opens
 * another until it is closed or the hub wants this client no more.
 */
export class ConnectionLife implements Line {
  /** Resolves when no connection will be opened any more; never rejects. */
  readonly closed: Promise<Close>;
  state: HubState = 'connecting';
  /** How it ended, once it has. */
  ending: Close | undefined;
  #resolveClosed: (close: Close) => void = () => undefined;
  #connection: Connection | undefined;
  /** Asked for once, and given back at the end, however late it comes. */
  #claim: Promise<InstanceId> | undefined;
  #instance: InstanceId | undefined;
  #liveness: Liveness | undefined;
  /** The token that was sent last, and whether the hub has refused it. */
  #token: string | undefined;
  #isRefused = false;
  #isHopeless = false;
  #isClosing = false;
  #attempt = 0;
  #openedAt = 0;
  /** When the hub wants to see this client again, in milliseconds from its close. */
  #hintMs: number | undefined;
  readonly #renewal = new TokenRenewal(() => this.#renew());
  readonly #waiters = new Waiters();
  #endPause: () => void = () => undefined;
  #stopOpening: () => void = () => undefined;
  readonly #stopWakeUps: () => void;
  #credentials: ConnectCredentials;

  constructor(
    private readonly settings: ConnectSettings,
    private readonly pending: PendingRequests,
    private readonly owner: LifeOwner,
  ) {
    this.#credentials = settings.credentials;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#stopWakeUps = onWakeUp(() => {
      this.#endPause();
      this.#liveness?.probe();
    });
  }

  get isOpen(): boolean {
    return this.state === 'open' && this.#connection?.isOpen === true;
  }

  get maxMessageBytes(): number {
    return this.#connection?.maxMessageBytes ?? MAX_MESSAGE_BYTES;
  }

  send(text: string): boolean {
    return this.state === 'open' && this.#connection?.send(text) === true;
  }

  async whenOpen(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.isOpen || this.#isClosing || signal?.aborted === true) return this.isOpen;
    await this.#waiters.wait(timeoutMs, signal);
    return this.isOpen;
  }

  /** Opens the first connection; there is no second attempt. @throws {HubError} */
  async open(): Promise<void> {
    try {
      await this.#open();
    } catch (error) {
      this.#finish({ code: 1006, reason: error instanceof Error ? error.message : '' });
      throw error;
    }
  }

  /** Logs in again over the connection there is, to extend the session; later ones use the same. @throws {HubError} */
  async authenticate(credentials: Credentials): Promise<void> {
    await this.#logIn(this, credentials, false);
    if (!isRenewable(this.#credentials)) this.#credentials = credentials;
  }

  /** Ends it for good: with a handshake where there is a connection. */
  async close(code: number, reason: string): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      if (this.state === 'open') void this.#connection?.close(code, reason);
      else this.cut(reason, code);
    }
    await this.closed;
  }

  /** Ends it now, without waiting for the hub. */
  cut(reason: string, code = 1006): void {
    this.#isClosing = true;
    const close = { code, reason };
    this.#connection?.cut(close);
    this.#finish(close);
  }

  /** One attempt: a socket, and a login over it. @throws {HubError} */
  async #open(): Promise<void> {
    const { settings } = this;
    const credentials = await this.#first(currentCredentials(this.#credentials));
    if (this.#isRefused && 'token' in credentials && credentials.token === this.#token) {
      this.#isHopeless = true;
      throw new HubError({
        code: 'invalid-credentials',
        message: 'the token is the one that was refused',
      });
    }
    if (settings.instanceId === undefined) {
      this.#claim ??= claimInstanceId();
      this.#instance = await this.#first(this.#claim);
    }
    if (this.#isClosing) throw givenUp(CLOSED);
    const connection = this.#openSocket();
    const { connectTimeoutMs } = settings;
    const unanswered = `the hub did not answer within ${connectTimeoutMs} ms`;
    const timer = setTimeout(() => connection.cut({ code: 1006, reason: unanswered }), connectTimeoutMs);
    try {
      await connection.opened;
      if (!connection.isOpen) await connection.closed; // the hub closes already; its code and reason are about to come
      await this.#logIn(connection, credentials, true);
    } catch (error) {
      const { ending } = connection;
      if (ending?.reason === unanswered) throw new HubError({ code: 'connection-lost', message: unanswered });
      if (ending !== undefined) throw new HubError(refusedConnection(ending));
      connection.close(1000, '').catch(() => undefined); // its end is nobody's concern: the refusal is
      this.#isRefused = error instanceof HubError && isRefusedLogin(error.code); // by a reply to the login
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #openSocket(): Connection {
    const connection: Connection = new Connection(openSocket(this.settings), {
      received: (message) => {
        if (connection === this.#connection && this.state !== 'closed') this.#received(message);
      },
      ended: (close) => this.#ended(connection, close),
    });
    return (this.#connection = connection);
  }

  async #logIn(line: Connection | this, credentials: Credentials, isNew: boolean): Promise<void> {
    const instanceId = isNew ? (this.settings.instanceId ?? this.#instance?.id) : undefined;
    const read = (reply: JsonObject): true | undefined => {
      const login = readLogin(reply);
      if (login === undefined) return undefined;
      if (this.#connection !== undefined) this.#connection.maxMessageBytes = login.maxMessageBytes;
      this.#isRefused = false;
      if (isNew) this.#opened(login);
      else this.owner.loggedIn(login, false);
      return true;
    };
    if ('token' in credentials) this.#token = credentials.token;
    await sendRequest(line, this.pending, {
      action: 'authenticate',
      body: { ...credentials, instanceId },
      read,
    });
  }

  #opened(login: Login): void {
    this.state = 'open';
    this.#openedAt = Date.now();
    this.#hintMs = undefined;
    this.#instance?.keep();
    this.#liveness = new Liveness({
      silenceMs: this.settings.livenessMs,
      ping: () => this.send('{"action":"ping"}'),
      dead: () => this.#connection?.cut({ code: 1006, reason: 'the hub gave no sign of life' }),
    });
    this.owner.loggedIn(login, true);
    this.owner.stateChanged({ state: 'open' });
    this.#waiters.release();
  }

  #received(message: JsonObject): void {
    this.#liveness?.heard();
    const { action, body } = message;
    if (action === 'session-expiring' && isRenewable(this.#credentials)) void this.#renewal.start();
    else if (action === 'session-closing') this.#hintMs = readHint(body);
    this.owner.received(message);
  }

  async #renew(): Promise<boolean> {
    const connection = this.#connection;
    const credentials = await currentCredentials(this.#credentials);
    const isOther = !('token' in credentials) || credentials.token !== this.#token;
    if (connection !== this.#connection || !isOther) return false;
    await this.authenticate(credentials);
    return true;
  }

  #ended(connection: Connection, close: Close): void {
    if (connection !== this.#connection) return;
    this.#liveness?.stop();
    this.#liveness = undefined;
    this.#renewal.stop();
    if (this.state !== 'open') return this.pending.failAll(lostConnection(close)); // the login, for one
    if (this.#isFinal(close)) return this.#finish(close);
    this.state = 'reconnecting';
    this.owner.lost(close, false);
    void this.#reconnect(close);
  }

  #isFinal({ code }: Close): boolean {
    const { reconnect } = this.settings;
    if (this.#isClosing || reconnect === undefined || !mayReconnect(code)) return true;
    const isSpent = 'token' in this.#credentials && !isRenewable(this.#credentials);
    return isSpent && code === closeCodes.notAuthenticated;
  }

  async #reconnect(close: Close): Promise<void> {
    if (Date.now() - this.#openedAt >= STABLE_MS) this.#attempt = 0;
    for (let last = close; !this.#isClosing;) {
      const { reconnect } = this.settings;
      if (reconnect === undefined) return;
      const delayMs = reconnectDelay(this.#attempt, reconnect, this.#hintMs);
      this.#hintMs = undefined;
      this.#attempt += 1;
      this.owner.stateChanged({ state: 'reconnecting', close: last, attempt: this.#attempt, delayMs });
      await this.#pause(delayMs);
      if (this.#isClosing) return;
      try {
        return await this.#open();
      } catch (error) {
        const { closeCode, code, message, retryAfterMs } = openingFailure(error);
        last = { code: closeCode ?? 1006, reason: message };
        this.#hintMs = retryAfterMs;
        const isRenewed = isRenewable(this.#credentials) && !this.#isHopeless;
        if (!mayTryAgain(code, closeCode, isRenewed)) this.#finish(last);
      }
    }
  }

  /** Not where a listener has closed the session. */
  async #pause(ms: number): Promise<void> {
    if (this.#isClosing) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endPause = () => undefined;
  }

  /** Waits for what comes before the socket. @throws {HubError} it took too long, or the session was ended meanwhile */
  async #first<T>(promise: Promise<T>): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stopped = new Promise<never>((_resolve, reject) => {
      const stop = (reason: string): void => reject(givenUp(reason));
      this.#stopOpening = () => stop(CLOSED);
      timer = setTimeout(() => stop('there was no token in time'), this.settings.connectTimeoutMs);
    });
    try {
      return await Promise.race([promise, stopped]);
    } finally {
      clearTimeout(timer);
      this.#stopOpening = () => undefined;
    }
  }

  #finish(close: Close): void {
    if (this.state === 'closed') return;
    this.state = 'closed';
    this.#isClosing = true;
    this.#stopOpening();
    this.ending = close;
    this.#endPause();
    this.#stopWakeUps();
    this.#claim?.then((instance) => instance.release()).catch(() => undefined);
    this.owner.stateChanged({ state: 'closed', close });
    this.owner.lost(close, true);
    this.#waiters.release();
    this.#resolveClosed(close);
  }
}
