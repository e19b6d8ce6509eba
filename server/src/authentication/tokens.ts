import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { MAX_TOKEN_LENGTH } from '@remotes-hub/protocol';
import {
  SignJWT,
  UnsecuredJWT,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWTHeaderParameters,
  type JWTPayload,
  type JWTVerifyOptions,
  type ProtectedHeaderParameters,
} from 'jose';
import type { AuthConfig } from '../config/config-schema.js';
import { isObject } from '../config/plain-object.js';
import type { Logger } from '../observability/logger.js';
import type { Soon } from '../soon.js';
import { AuthenticationError, invalidCredentials, isUserId, type Identity } from './authenticate.js';
import { KeySet } from './key-sets.js';

/** What tokens must look like: the part of the configuration's `auth` that says so, the secret resolved. */
export interface TokensOptions extends Pick<
  AuthConfig,
  'secret' | 'issuer' | 'audience' | 'jwksUrl' | 'algorithms' | 'tokenTtlSeconds'
> {
  readonly logger: Pick<Logger, 'warn'>;
}

/** A token and when it expires, in milliseconds since 1970. */
export interface IssuedToken {
  readonly token: string;
  readonly expiresAt: number;
}

const MIN_SECRET_BYTES = 32;
const CLOCK_TOLERANCE_SECONDS = 5;
const LAST_DATE_MS = 8_640_000_000_000_000; // the last that a Date can hold

/** The key of the hub's own tokens. */
function secretKey(secret: string | undefined): KeyObject | undefined {
  if (secret === undefined) return undefined;
  const bytes = Buffer.from(secret);
  if (bytes.length < MIN_SECRET_BYTES) {
    throw new RangeError(
      `auth.secret: expected at least ${MIN_SECRET_BYTES} bytes, received ${bytes.length}`,
    );
  }
  return createSecretKey(bytes);
}

/** When a session ends: with its token, or with the tolerance where that has passed already. */
function sessionEnd(exp: number): number {
  const expiresAt = Math.min(Math.floor(exp * 1_000), LAST_DATE_MS);
  return expiresAt > Date.now() ? expiresAt : expiresAt + CLOCK_TOLERANCE_SECONDS * 1_000;
}

function identityOf({ sub, exp }: JWTPayload): Identity {
  if (!isUserId(sub)) throw invalidCredentials('the claim sub is no user id');
  if (exp === undefined) throw invalidCredentials('the claim exp is missing');
  return { userId: sub, expiresAt: sessionEnd(exp) };
}

/** The header that the hub's own tokens have, and in base64url with the dot after it. */
const ownHeader: ProtectedHeaderParameters & JWTHeaderParameters = { alg: 'HS256', typ: 'JWT' };
const OWN_HEADER = `${Buffer.from(JSON.stringify(ownHeader)).toString('base64url')}.`;

function headerOf(token: string): ProtectedHeaderParameters {
  if (token.length > MAX_TOKEN_LENGTH) throw invalidCredentials('the token is too long');
  return token.startsWith(OWN_HEADER) ? ownHeader : decodeProtectedHeader(token);
}

/** Whether a token ends with the signature of what is before `end`: HMAC with SHA-256, in base64url (RFC 7515). */
function isSigned(token: string, end: number, key: KeyObject): boolean {
  const signature = Buffer.from(token.slice(end + 1));
  const expected = Buffer.from(createHmac('sha256', key).update(token.slice(0, end)).digest('base64url'));
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}

/** The header of a token without a signature. */
const UNSIGNED = Buffer.from('{"alg":"none"}').toString('base64url');

/** Claims in base64url of JSON in ASCII; `undefined` for all others, which may be good too. */
function readUsualClaims(payload: string): Readonly<Record<string, unknown>> | undefined {
  if (payload.length % 4 === 1 || !/^[\w-]+$/u.test(payload)) return undefined;
  const bytes = Buffer.from(payload, 'base64url');
  const text = bytes.toString();
  if (text.length !== bytes.length) return undefined;
  try {
    const claims: unknown = JSON.parse(text);
    return isObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** Rejects with the refusal. An error of jose may carry the claims, so only its code is kept. */
async function refuse(error: unknown): Promise<never> {
  if (error instanceof AuthenticationError) throw error;
  throw invalidCredentials(error instanceof errors.JOSEError ? error.code : 'not a usable token');
}

/**
 * Tokens of the hub's own (HS256 with `auth.secret`) and of an outside issuer (the pinned algorithms, with the
 * keys at `auth.jwksUrl`). Which of the two a token is, its header's `alg` says; it chooses nothing else.
 * `iss` and `aud` must be as configured in both. `exp` and `nbf` are taken with a tolerance of 5 s.
 */
export class Tokens implements Disposable {
  readonly #secret: KeyObject | undefined;
  readonly #keySet: KeySet | undefined;
  readonly #options: TokensOptions;
  readonly #claims: JWTVerifyOptions;

  /** @throws {RangeError} when the secret has less than 32 bytes of UTF-8; the error does not hold it */
  constructor(options: TokensOptions) {
    const { secret, jwksUrl, issuer, audience, logger } = options;
    this.#options = options;
    this.#secret = secretKey(secret);
    this.#keySet = jwksUrl === undefined ? undefined : new KeySet({ url: jwksUrl, logger });
    this.#claims = {
      requiredClaims: ['sub', 'exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      ...(issuer === undefined ? {} : { issuer }),
      ...(audience === undefined ? {} : { audience }),
    };
    if (jwksUrl !== undefined && audience === undefined) {
      logger.warn(
        'auth.jwksUrl without auth.audience: tokens that the issuer made for others are accepted too',
      );
    }
  }

  /** Whether {@link issue} works: there is a secret. */
  get canIssue(): boolean {
    return this.#secret !== undefined;
  }

  /**
   * Who the token speaks for, and until when; at once, where it is the hub's own. Never throws: rejects with an
   * {@link AuthenticationError}, `invalid-credentials` with one text for every fault, `internal-error` or `rate-limited`
   * when the keys of the outside issuer cannot be had now.
   */
  verify(token: string): Soon<Identity> {
    try {
      const { alg: algorithm, crit } = headerOf(token);
      if (algorithm !== 'HS256' || this.#secret === undefined || crit !== undefined)
        return this.#claimsByLibrary(token, algorithm).then(identityOf).catch(refuse);
      return identityOf(this.#ownClaims(token, this.#secret));
    } catch (error) {
      return refuse(error);
    }
  }

  async #claimsByLibrary(token: string, algorithm: string | undefined): Promise<JWTPayload> {
    const keySet = this.#keySet;
    if (algorithm === 'HS256' && this.#secret !== undefined)
      return (await jwtVerify(token, this.#secret, { ...this.#claims, algorithms: ['HS256'] })).payload;
    const pinned: readonly string[] = this.#options.algorithms;
    if (keySet === undefined || algorithm === undefined || !pinned.includes(algorithm)) {
      throw invalidCredentials('the algorithm is not accepted');
    }
    const findKey: KeySet['find'] = (header, input) => keySet.find(header, input);
    return (await jwtVerify(token, findKey, { ...this.#claims, algorithms: [...pinned] })).payload;
  }

  /**
   * The claims of a token of the hub's own. Its signature is checked here, on this thread: the library hands each over
   * to another one, at several times the cost, and many come at once when a hub restarts. The claims it checks itself,
   * where they are not as usual.
   */
  #ownClaims(token: string, key: KeyObject): JWTPayload {
    const end = token.lastIndexOf('.');
    if (!isSigned(token, end, key)) throw new errors.JWSSignatureVerificationFailed();
    const payload = token.slice(token.indexOf('.') + 1, end);
    return this.#usualClaims(payload) ?? UnsecuredJWT.decode(`${UNSIGNED}.${payload}.`, this.#claims).payload;
  }

  /** Claims that are valid for certain, at a fraction of the library's cost; a test shows that it takes them too. */
  #usualClaims(payload: string): JWTPayload | undefined {
    const { issuer, audience } = this.#options;
    const claims = readUsualClaims(payload);
    if (claims === undefined) return undefined;
    const { sub, exp, nbf, iat, iss, aud } = claims;
    const now = Math.floor(Date.now() / 1_000);
    const isUsual =
      typeof sub === 'string' &&
      typeof exp === 'number' &&
      exp > now - CLOCK_TOLERANCE_SECONDS &&
      (iat === undefined || typeof iat === 'number') &&
      (nbf === undefined || (typeof nbf === 'number' && nbf <= now + CLOCK_TOLERANCE_SECONDS)) &&
      (issuer === undefined || iss === issuer) &&
      (audience === undefined || aud === audience);
    return isUsual ? { sub, exp } : undefined;
  }

  /**
   * Makes a token of the hub's own.
   * @param ttlMs how long it lives, in milliseconds, rounded up to whole seconds; `tokenTtlSeconds` by default
   * @throws {RangeError} when `userId` or `ttlMs` cannot be
   * @throws {AuthenticationError} `internal-error` when there is no secret
   */
  async issue(userId: string, ttlMs = this.#options.tokenTtlSeconds * 1_000): Promise<IssuedToken> {
    const secret = this.#secret;
    if (secret === undefined) {
      throw new AuthenticationError(
        'internal-error',
        'this hub issues no tokens: auth.secret is not configured',
      );
    }
    if (!isUserId(userId)) throw new RangeError('expected a user id of 1 to 256 characters');
    if (!(ttlMs > 0 && ttlMs < LAST_DATE_MS - Date.now()))
      throw new RangeError('ttlMs: expected a positive time');
    const { issuer, audience } = this.#options;
    const exp = Math.ceil((Date.now() + ttlMs) / 1_000);
    const jwt = new SignJWT().setProtectedHeader(ownHeader).setSubject(userId);
    if (issuer !== undefined) jwt.setIssuer(issuer);
    if (audience !== undefined) jwt.setAudience(audience);
    return {
      token: await jwt.setIssuedAt().setExpirationTime(exp).sign(secret),
      expiresAt: exp * 1_000,
    };
  }

  /** Ends a fetch of keys under way. */
  [Symbol.dispose](): void {
    this.#keySet?.[Symbol.dispose]();
  }
}
