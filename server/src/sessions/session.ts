import { closeCodes, type CloseCode } from '@remotes-hub/protocol';
import type { Identity } from '../authentication/authenticate.js';
import { Expiry, type Expiring } from './expiry.js';
import { writeJson, type OutgoingText } from '../json/json-text.js';

/** How a connection ended. */
export interface ConnectionEnd {
  /** The code of the close frame, whoever sent it; none when the connection was lost. */
  readonly code?: number;
  /** Why, where those who wait for the session should know. */
  readonly cause?: string;
}

/** The connection under a session, as far as a session uses it. */
export interface Peer {
  /** Sends one text frame; a peer that is gone or too slow gets nothing. */
  send(text: OutgoingText): void;
  /** Starts the closing handshake; a peer that does not answer it is cut off. */
  close(code: CloseCode, reason: string): void;
  /** Cuts the connection. */
  terminate(): void;
  /** Asks for a sign of life; false when none comes in time. */
  probe(): Promise<boolean>;
}

/** What makes a session. */
export interface SessionOptions {
  readonly id: string;
  readonly identity: Identity;
  readonly peer: Peer;
  /** The peer's address, without its port. */
  readonly address: string;
  /** Stands for the client's instance id; an earlier session with the same one is replaced. */
  readonly instanceKey: string | undefined;
  /** The peer selected the subprotocol remotes.v1. */
  readonly speaksV1: boolean;
}

/**
 * One authenticated connection of a user. Ends once: whoever hangs on it is told at that moment, whatever the
 * socket still has to do.
 */
export class Session implements Expiring {
  readonly id: string;
  readonly userId: string;
  readonly address: string;
  readonly instanceKey: string | undefined;
  readonly speaksV1: boolean;
  readonly #peer: Peer;
  readonly #expiry: Expiry;
  #endListeners: ((session: Session) => void)[] = [];
  #isOpen = true;
  #end: ConnectionEnd = {};

  constructor({ id, identity, peer, address, instanceKey, speaksV1 }: SessionOptions) {
    this.id = id;
    this.address = address;
    this.userId = identity.userId;
    this.instanceKey = instanceKey;
    this.speaksV1 = speaksV1;
    this.#peer = peer;
    this.#expiry = new Expiry(this);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Why the session ended, where those who wait for it should know. */
  get endCause(): string | undefined {
    return this.#end.cause;
  }

  /** The code of the close frame, whoever sent it; none when the connection was lost, or has not ended. */
  get endCode(): number | undefined {
    return this.#end.code;
  }

  /**
   * Whether a later session of its instance may take up what this one left: its connection was lost, or that
   * session took its place. Told at the end.
   */
  get isResumable(): boolean {
    const { code } = this.#end;
    return code === undefined || code === closeCodes.replaced;
  }

  /** When the session ends, in milliseconds since 1970; never when `undefined`. */
  get expiresAt(): number | undefined {
    return this.#expiry.expiresAt;
  }

  /** Sets the end of the session's life, in milliseconds since 1970; `undefined` for never. */
  expireAt(expiresAt: number | undefined): void {
    if (this.#isOpen) this.#expiry.set(expiresAt);
  }

  /** True when the session has outlived its credentials, even if the timer has not run yet; it is closed then. */
  closeIfExpired(): boolean {
    return this.#expiry.runIfDue();
  }

  send(text: OutgoingText): void {
    if (this.#isOpen) this.#peer.send(text);
  }

  /** Asks the peer for a sign of life. A peer that gives none is cut off, and the session ended. */
  async probe(): Promise<boolean> {
    if (!this.#isOpen) return false;
    if (await this.#peer.probe()) return this.#isOpen;
    this.#peer.terminate();
    this.end();
    return false;
  }

  /** The notice leaves after the work at hand, so that it never overtakes the reply to a login that expires soon. */
  expiresSoon(expiresAt: number): void {
    const text = writeJson({ action: 'session-expiring', body: { sessionId: this.id, expiresAt } });
    process.nextTick(() => this.send(text));
  }

  expired(): void {
    this.close(closeCodes.notAuthenticated, 'the credentials have expired');
  }

  /** Runs when the session ends; at once when it has. */
  onEnd(listener: (session: Session) => void): void {
    if (this.#isOpen) this.#endListeners.push(listener);
    else listener(this);
  }

  /** Ends the session and closes its connection. */
  close(code: CloseCode, reason: string): void {
    this.#peer.close(code, reason);
    this.end({ code });
  }

  /** The connection is gone, or about to be; lost, unless a close frame or a cause is told. */
  end(end: ConnectionEnd = {}): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#end = end;
    this.#expiry[Symbol.dispose]();
    const listeners = this.#endListeners;
    this.#endListeners = [];
    for (const listener of listeners) listener(this);
  }
}
