import { createHash } from 'node:crypto';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Soon } from '../soon.js';
import { addressKey } from './address-key.js';
import { tooManyAttempts } from './authenticate.js';

/** How many failed logins are allowed a minute. */
export interface AttemptLimitsOptions {
  readonly maxAttemptsPerUser: number;
  readonly maxAttemptsPerAddress: number;
}

/** A password that may be checked now. Its points are spent until it is settled. */
export interface PasswordAttempt {
  /** Ends the attempt: a failure keeps its points, anything else gives them back. Once only. */
  settle(hasFailed: boolean): Promise<void>;
}

const WINDOW_SECONDS = 60;
const RETRY_AFTER_CHECKS_MS = 1_000;

/** A user name of any length becomes a key of one. */
function userKey(username: string): string {
  return createHash('sha256').update(username).digest('base64url');
}

interface Point {
  readonly key: string;
  readonly endsAt: number;
}

/** Points of many keys; those of one key come back a minute after the first was taken. */
class Budget implements Disposable {
  readonly #limiter: RateLimiterMemory;
  readonly #inFlight = new Map<string, number>();
  /** When a key last took a point, in milliseconds of {@link performance.now}, in that order; all others have all points. */
  readonly #takenAt = new Map<string, number>();
  #disposed = false;

  constructor(private readonly points: number) {
    this.#limiter = new RateLimiterMemory({ points, duration: WINDOW_SECONDS });
  }

  /** Takes a point, which stays taken if it is not given back. @throws {AuthenticationError} `rate-limited` */
  async take(key: string): Promise<Point> {
    const { consumedPoints, msBeforeNext } = await this.#penalty(key);
    const point = { key, endsAt: Date.now() + msBeforeNext };
    const inFlight = this.#inFlight.get(key) ?? 0;
    if (consumedPoints > this.points) {
      await this.#return(point);
      // When undecided attempts hold the rest, it may be free as soon as they are decided.
      const isOnlyHeld = consumedPoints - inFlight <= this.points;
      throw tooManyAttempts(isOnlyHeld ? Math.min(RETRY_AFTER_CHECKS_MS, msBeforeNext) : msBeforeNext);
    }
    this.#inFlight.set(key, inFlight + 1);
    return point;
  }

  /** Ends the attempt that took the point. */
  async settle(point: Point, hasFailed: boolean): Promise<void> {
    const left = (this.#inFlight.get(point.key) ?? 0) - 1;
    if (left > 0) this.#inFlight.set(point.key, left);
    else this.#inFlight.delete(point.key);
    if (!hasFailed) await this.#return(point);
  }

  /** Spends a point afterwards. */
  async spend(key: string): Promise<void> {
    if (!this.#disposed) await this.#penalty(key);
  }

  /** Rejects with an {@link AuthenticationError}, `rate-limited`, when every point is spent. */
  check(key: string): Soon<void> {
    return this.#takenAt.has(key) ? this.#checkPoints(key) : undefined;
  }

  async #checkPoints(key: string): Promise<void> {
    const state = await this.#limiter.get(key);
    if (state !== null && state.consumedPoints >= this.points) throw tooManyAttempts(state.msBeforeNext);
  }

  #penalty(key: string): Promise<RateLimiterRes> {
    const now = performance.now();
    this.#takenAt.delete(key);
    this.#takenAt.set(key, now);
    for (const [other, takenAt] of this.#takenAt) {
      if (now - takenAt <= WINDOW_SECONDS * 1_000) break;
      this.#takenAt.delete(other);
    }
    return this.#limiter.penalty(key);
  }

  /** A point of a minute that is over is gone: given back now it would be a point too many. */
  async #return({ key, endsAt }: Point): Promise<void> {
    if (!this.#disposed && Date.now() < endsAt) await this.#limiter.reward(key);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#takenAt.clear();
    for (const { key } of this.#limiter.dump().storage) void this.#limiter.delete(key); // clears its timer
  }
}

/**
 * One budget of failed logins for every way in: per user name and per address. A password costs a point of
 * both before it is checked, so that attempts side by side cannot slip through, and a right one gets them
 * back. Beyond the budget nothing is checked. A token costs its address a point once it was refused: guessing
 * one is hopeless, and thousands of sessions behind one address may return at once.
 */
export class AttemptLimits implements Disposable {
  readonly #users: Budget;
  readonly #addresses: Budget;

  constructor(options: AttemptLimitsOptions) {
    this.#users = new Budget(options.maxAttemptsPerUser);
    this.#addresses = new Budget(options.maxAttemptsPerAddress);
  }

  /**
   * Asks to check a password. What is refused for the sake of the user name costs the address nothing.
   * @throws {AuthenticationError} `rate-limited`
   */
  async startPassword(username: string, address: string): Promise<PasswordAttempt> {
    const userPoint = await this.#users.take(userKey(username));
    try {
      const addressPoint = await this.#addresses.take(addressKey(address));
      return { settle: (hasFailed) => this.#settle(userPoint, addressPoint, hasFailed) };
    } catch (error) {
      await this.#users.settle(userPoint, false);
      throw error;
    }
  }

  async #settle(userPoint: Point, addressPoint: Point, hasFailed: boolean): Promise<void> {
    await this.#users.settle(userPoint, hasFailed);
    await this.#addresses.settle(addressPoint, hasFailed);
  }

  /** Asks to check a token. Rejects with an {@link AuthenticationError}, `rate-limited`, when it may not be. */
  checkToken(address: string): Soon<void> {
    return this.#addresses.check(addressKey(address));
  }

  /** A token was refused. */
  async spendToken(address: string): Promise<void> {
    await this.#addresses.spend(addressKey(address));
  }

  /** Forgets every attempt and clears every timer; attempts under way may still settle. */
  [Symbol.dispose](): void {
    this.#users[Symbol.dispose]();
    this.#addresses[Symbol.dispose]();
  }
}
