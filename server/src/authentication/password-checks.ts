import { AuthenticationError, tooManyAttempts } from './authenticate.js';
import { verifyPassword } from '../passwords/passwords.js';

/** How many checks may run and wait. */
export interface PasswordChecksOptions {
  /** Checks at a time, each with 32 MiB and a thread of the pool's four. @default 2 */
  readonly running?: number;
  /** Checks that wait for their turn; more are refused. @default 64 */
  readonly waiting?: number;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: AuthenticationError) => void;
}

const RETRY_AFTER_MS = 5_000; // a full queue takes some 10 s

/** Checks passwords, few at a time, so that logins starve neither the thread pool nor the memory. */
export class PasswordChecks implements Disposable {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #waiting: Waiter[] = [];
  #running = 0;
  #disposed = false;

  constructor(options: PasswordChecksOptions = {}) {
    this.#maxRunning = options.running ?? 2;
    this.#maxWaiting = options.waiting ?? 64;
  }

  /**
   * Whether the hash is that of the password.
   * @throws {AuthenticationError} `rate-limited` when too many checks wait already
   */
  async verify(password: string, hash: string): Promise<boolean> {
    await this.#start();
    try {
      return await verifyPassword(password, hash);
    } finally {
      this.#end();
    }
  }

  async #start(): Promise<void> {
    if (this.#disposed) throw this.#closed();
    if (this.#running < this.#maxRunning) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= this.#maxWaiting) throw tooManyAttempts(RETRY_AFTER_MS);
    await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Hands the place of an ended check to the next in line. */
  #end(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next.resolve();
  }

  #closed(): AuthenticationError {
    return new AuthenticationError('internal-error', 'the hub is shutting down');
  }

  /** Refuses the waiting checks; the running ones end by themselves. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.reject(this.#closed());
  }
}
