import type { Credentials } from '@remotes-hub/protocol';
import type { Logger } from '../observability/logger.js';
import { AttemptLimits, type AttemptLimitsOptions } from './attempt-limits.js';
import {
  AuthenticationError,
  invalidCredentials,
  isUserId,
  type AttemptOrigin,
  type Authenticator,
  type Identity,
} from './authenticate.js';

/** A host program's own check: who holds the credentials, or `null` for nobody. */
export type AuthenticateFunction = (
  credentials: Credentials,
  origin: AttemptOrigin,
) => Identity | null | undefined | Promise<Identity | null | undefined>;

/** An attempt that was allowed. */
interface Attempt {
  settle(hasFailed: boolean): Promise<void>;
}

/** Logs in by the host program's own function, with the hub's limits of failed attempts. */
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
    const attempt = await this.#start(credentials, origin.address);
    try {
      const identity = await this.#identify(credentials, origin);
      await attempt.settle(false);
      return identity;
    } catch (error) {
      await attempt.settle(error instanceof AuthenticationError && error.code === 'invalid-credentials');
      throw error;
    }
  }

  async #start(credentials: Credentials, address: string): Promise<Attempt> {
    if ('username' in credentials) return this.#limits.startPassword(credentials.username, address);
    await this.#limits.checkToken(address);
    return { settle: async (hasFailed) => (hasFailed ? this.#limits.spendToken(address) : undefined) };
  }

  async #identify(credentials: Credentials, origin: AttemptOrigin): Promise<Identity> {
    const identity = await this.#answerOf(credentials, origin);
    if (isIdentity(identity)) return identity;
    if (identity != null)
      this.log.error({ address: origin.address }, 'own authentication gave neither an identity nor null');
    throw invalidCredentials('refused by the host program');
  }

  async #answerOf(credentials: Credentials, origin: AttemptOrigin): Promise<unknown> {
    try {
      return await this.check(credentials, origin);
    } catch (error) {
      if (error instanceof AuthenticationError) throw error;
      this.log.error({ err: error, address: origin.address }, 'own authentication failed');
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
  return isUserId(userId) && (expiresAt === undefined || Number.isSafeInteger(expiresAt));
}
