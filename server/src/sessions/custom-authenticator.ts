import { MAX_USER_ID_LENGTH, type Credentials } from '@remotes-hub/protocol';
import type { Logger } from '../observability/logger.js';
import { AttemptLimits, type AttemptLimitsOptions } from './attempt-limits.js';
import {
  AuthenticationError,
  invalidCredentials,
  type AttemptOrigin,
  type Authenticator,
  type Identity,
} from './authenticate.js';

/** A host program's own check: who holds the credentials, or `null` for nobody. */
export type AuthenticateFunction = (
  credentials: Credentials,
  origin: AttemptOrigin,
) => Identity | null | undefined | Promise<Identity | null | undefined>;

/** Logs in by the host program's own function, with the hub's limit of failed attempts per address. */
export class CustomAuthenticator implements Authenticator, Disposable {
  readonly #limits: AttemptLimits;

  constructor(
    private readonly check: AuthenticateFunction,
    limits: AttemptLimitsOptions,
    private readonly log: Logger,
  ) {
    this.#limits = new AttemptLimits(limits);
  }

  async authenticate(credentials: Credentials, origin: AttemptOrigin): Promise<Identity> {
    await this.#limits.checkToken(origin.address);
    const identity = await this.#identify(credentials, origin);
    if (isIdentity(identity)) return identity;
    await this.#limits.spendToken(origin.address);
    throw invalidCredentials('refused by the host program');
  }

  async #identify(credentials: Credentials, origin: AttemptOrigin): Promise<unknown> {
    try {
      return await this.check(credentials, origin);
    } catch (error) {
      if (error instanceof AuthenticationError) throw error;
      this.log.error({ err: error }, 'own authentication failed');
      throw new AuthenticationError(
        'internal-error',
        'the login cannot be checked at the moment',
        undefined,
        { cause: error },
      );
    }
  }

  [Symbol.dispose](): void {
    this.#limits[Symbol.dispose]();
  }
}

function isIdentity(identity: unknown): identity is Identity {
  if (typeof identity !== 'object' || identity === null) return false;
  const { userId, expiresAt } = identity as { userId?: unknown; expiresAt?: unknown };
  const isUser = typeof userId === 'string' && userId.length > 0 && userId.length <= MAX_USER_ID_LENGTH;
  return isUser && (expiresAt === undefined || Number.isSafeInteger(expiresAt));
}
