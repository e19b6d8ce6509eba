import { MAX_USER_ID_LENGTH, type Credentials, type ErrorCode } from '@remotes-hub/protocol';
import type { Soon } from '../soon.js';

/** Who a session is. */
export interface Identity {
  readonly userId: string;
  /** When the session ends, in milliseconds since 1970; never when absent. */
  readonly expiresAt?: number;
}

/** Whether it is the name of a user, as the protocol's `userIdSchema` says at several times the cost. */
export function isUserId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_USER_ID_LENGTH;
}

/** Where an attempt to log in comes from. */
export interface AttemptOrigin {
  /** The peer's address, without its port. */
  readonly address: string;
}

/** A refused login. One text for every bad credential, so that nobody learns which part was wrong. */
export class AuthenticationError extends Error {
  override readonly name = 'AuthenticationError';

  constructor(
    readonly code: Extract<ErrorCode, 'invalid-credentials' | 'rate-limited' | 'internal-error'>,
    message: string,
    /** With `rate-limited`: how long to wait, in milliseconds. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * The refusal of any bad credential: always the same code and text. `reason` is a word for the log of the hub
 * (it becomes the `cause`) and never reaches the peer.
 */
export function invalidCredentials(reason: string): AuthenticationError {
  return new AuthenticationError('invalid-credentials', 'invalid credentials', undefined, { cause: reason });
}

/** The refusal of an attempt that was not checked, with the time to wait before the next one. */
export function tooManyAttempts(retryAfterMs: number): AuthenticationError {
  return new AuthenticationError('rate-limited', 'too many attempts to log in', Math.ceil(retryAfterMs));
}

/** Tells who holds the credentials, at once where nothing has to be waited for. */
export interface Authenticator {
  /** Never throws: rejects with an {@link AuthenticationError}. */
  authenticate(credentials: Credentials, origin: AttemptOrigin): Soon<Identity>;
}
