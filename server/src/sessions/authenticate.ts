import type { Credentials, ErrorCode } from '@remotes-hub/protocol';

/** Who a session is. */
export interface Identity {
  readonly userId: string;
  /** When the session ends, in milliseconds since 1970; never when absent. */
  readonly expiresAt?: number;
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

/** Tells who holds the credentials. @throws {AuthenticationError} */
export interface Authenticator {
  authenticate(credentials: Credentials, origin: AttemptOrigin): Promise<Identity>;
}
