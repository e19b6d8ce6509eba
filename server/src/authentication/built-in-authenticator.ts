import { MAX_PASSWORD_LENGTH, MAX_USER_ID_LENGTH, type Credentials } from '@remotes-hub/protocol';
import type { AuthConfig } from '../config/config-schema.js';
import type { Logger } from '../observability/logger.js';
import { whenThere, type Soon } from '../soon.js';
import { AttemptLimits, type AttemptLimitsOptions } from './attempt-limits.js';
import {
  AuthenticationError,
  invalidCredentials,
  type AttemptOrigin,
  type Authenticator,
  type Identity,
} from './authenticate.js';
import { PasswordChecks } from './password-checks.js';
import { Tokens, type IssuedToken } from './tokens.js';
import { Users } from './users.js';

/** What the built-in way to log in is made of. */
export interface BuiltInAuthenticatorOptions {
  /** The configuration's `auth`, its secret resolved. */
  readonly auth: Omit<AuthConfig, 'allowedOrigins'>;
  readonly limits: AttemptLimitsOptions;
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
}

const MAX_LOGGED_NAME_LENGTH = 64;

function isRefusal(error: unknown): error is AuthenticationError {
  return error instanceof AuthenticationError && error.code === 'invalid-credentials';
}

/**
 * Logs in with tokens and with the passwords of the configuration and the file of users. All ways in share it,
 * and so one budget of attempts. A login by password has no end of its own; one by token ends with the token.
 */
export class BuiltInAuthenticator implements Authenticator, Disposable {
  readonly #tokens: Tokens;
  readonly #users: Users;
  readonly #limits: AttemptLimits;
  readonly #checks = new PasswordChecks();
  readonly #logger: BuiltInAuthenticatorOptions['logger'];

  /** @throws {RangeError} when the secret is too short or a configured user wrong; it holds no secret */
  constructor({ auth, limits, logger }: BuiltInAuthenticatorOptions) {
    this.#logger = logger;
    this.#users = new Users({ users: auth.users, usersFile: auth.usersFile, logger });
    this.#tokens = new Tokens({ ...auth, logger });
    this.#limits = new AttemptLimits(limits);
  }

  /** Whether {@link login} works: the hub has a secret to sign tokens with. */
  get canIssueTokens(): boolean {
    return this.#tokens.canIssue;
  }

  /** Reads the file of users now, so that its faults are in the log before somebody logs in. */
  async start(): Promise<void> {
    await this.#users.refresh();
  }

  authenticate(credentials: Credentials, origin: AttemptOrigin): Soon<Identity> {
    if ('token' in credentials) return this.#byToken(credentials.token, origin);
    return this.#byPassword(credentials.username, credentials.password, origin);
  }

  /**
   * Exchanges a password for a token that lives `tokenTtlSeconds`.
   * @throws {AuthenticationError} as `authenticate`; `internal-error` when the hub has no secret
   */
  async login(username: string, password: string, origin: AttemptOrigin): Promise<IssuedToken> {
    const { userId } = await this.#byPassword(username, password, origin);
    return this.#tokens.issue(userId);
  }

  /**
   * A token for a user, without a password: for the operator of the hub.
   * @throws {AuthenticationError} `internal-error` when the hub has no secret
   */
  async issueToken(userId: string, ttlMs?: number): Promise<IssuedToken> {
    return this.#tokens.issue(userId, ttlMs);
  }

  #byToken(token: string, origin: AttemptOrigin): Soon<Identity> {
    const allowed = this.#limits.checkToken(origin.address);
    const identity = whenThere(allowed, () => this.#tokens.verify(token));
    if (!(identity instanceof Promise)) return identity;
    return identity.catch(async (error: unknown) => this.#refusedToken(error, origin));
  }

  async #refusedToken(error: unknown, origin: AttemptOrigin): Promise<never> {
    if (isRefusal(error)) await this.#limits.spendToken(origin.address);
    this.#report(error, origin);
    throw error;
  }

  async #byPassword(username: string, password: string, origin: AttemptOrigin): Promise<Identity> {
    try {
      const attempt = await this.#limits.startPassword(username, origin.address);
      try {
        await this.#checkPassword(username, password);
      } catch (error) {
        await attempt.settle(isRefusal(error));
        throw error;
      }
      await attempt.settle(false);
      return { userId: username };
    } catch (error) {
      this.#report(error, origin, username);
      throw error;
    }
  }

  async #checkPassword(username: string, password: string): Promise<void> {
    // The protocol's bounds, for the ways in that no schema guards.
    if (username.length > MAX_USER_ID_LENGTH || password.length > MAX_PASSWORD_LENGTH) {
      throw invalidCredentials('the user name or password is too long');
    }
    const { passwordHash, isKnown } = await this.#users.find(username);
    const isRight = await this.#checks.verify(password, passwordHash);
    if (!isKnown) throw invalidCredentials('no such user');
    if (!isRight) throw invalidCredentials('wrong password');
  }

  /** Attempts beyond the limit are many and tell nothing new: they are for `debug`. */
  #report(error: unknown, { address }: AttemptOrigin, username?: string): void {
    if (!(error instanceof AuthenticationError)) return;
    const facts = {
      address,
      ...(username === undefined ? {} : { username: username.slice(0, MAX_LOGGED_NAME_LENGTH) }),
      code: error.code,
      ...(typeof error.cause === 'string' ? { reason: error.cause } : {}),
    };
    if (error.code === 'rate-limited') this.#logger.debug(facts, 'login refused');
    else this.#logger.info(facts, 'login refused');
  }

  /** Refuses the checks that wait, ends a fetch of keys and clears every timer. */
  [Symbol.dispose](): void {
    this.#checks[Symbol.dispose]();
    this.#tokens[Symbol.dispose]();
    this.#limits[Symbol.dispose]();
  }
}
