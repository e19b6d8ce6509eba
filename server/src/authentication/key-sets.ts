import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type CryptoKey,
  type FetchImplementation,
  type FlattenedJWSInput,
  type JWTHeaderParameters,
} from 'jose';
import type { Logger } from '../observability/logger.js';
import { AuthenticationError, tooManyAttempts } from './authenticate.js';

/** Where the keys are, and how long fetching them may take. */
export interface KeySetOptions {
  readonly url: string;
  readonly logger: Pick<Logger, 'warn'>;
  /** Time for one fetch, in milliseconds. @default 5000 */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 5_000;
const MAX_RESPONSE_BYTES = 256 * 1024;

/** Keys are fetched again after this; while that fails they count for another while. */
const FRESH_MS = 10 * 60_000;
const USABLE_MS = 60 * 60_000;

const FETCHES_AT_ONCE = 5;
const FETCH_INTERVAL_MS = 10_000;

/** Allows a few fetches at once, then one per interval: forged tokens cannot flood the issuer. */
class FetchBudget {
  #available = FETCHES_AT_ONCE;
  #countedAt = Date.now();

  /** Takes a fetch, or tells how long to wait for the next, in milliseconds. */
  take(): { waitMs: number } {
    const intervals = Math.max(0, (Date.now() - this.#countedAt) / FETCH_INTERVAL_MS);
    this.#available = Math.min(FETCHES_AT_ONCE, this.#available + intervals);
    this.#countedAt = Date.now();
    if (this.#available < 1) return { waitMs: Math.ceil((1 - this.#available) * FETCH_INTERVAL_MS) };
    this.#available -= 1;
    return { waitMs: 0 };
  }
}

/** The text of a response. @throws {Error} when it is too long */
async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early cancels the rest of the body.
  for await (const chunk of response.body ?? []) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('a response is read in bytes');
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error(`the key set is larger than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function boundedFetch(closing: AbortSignal): FetchImplementation {
  return async (url, options) => {
    const response = await fetch(url, { ...options, signal: AbortSignal.any([options.signal, closing]) });
    if (response.status === 200) return new Response(await boundedText(response));
    await response.body?.cancel();
    throw new Error(`the key set was answered with status ${response.status}`);
  };
}

/**
 * The published keys of an outside issuer. They are fetched when the first token comes, when they are older
 * than ten minutes, and when a token names a key that is not among them, so that a key is accepted as soon as
 * its issuer publishes it. Known keys outlast an issuer that is away by up to an hour.
 */
export class KeySet implements Disposable {
  readonly #remote: ReturnType<typeof createRemoteJWKSet>;
  readonly #closing = new AbortController();
  readonly #budget = new FetchBudget();
  readonly #logger: KeySetOptions['logger'];
  #fetching: Promise<void> | undefined;
  #fetchesStarted = 0;
  #fetchesDone = 0;
  #fetchedAt = -Infinity;

  constructor(options: KeySetOptions) {
    this.#logger = options.logger;
    this.#remote = createRemoteJWKSet(new URL(options.url), {
      timeoutDuration: options.deadlineMs ?? DEADLINE_MS,
      // When to fetch is decided here; jose never does it by itself.
      cooldownDuration: Infinity,
      cacheMaxAge: Infinity,
      [customFetch]: boundedFetch(this.#closing.signal),
    });
  }

  /**
   * The key that a token names by its `kid`, and that fits its algorithm.
   * @throws {AuthenticationError} `internal-error` when the keys cannot be fetched, `rate-limited` when they
   *   were fetched too often to look for this one now
   * @throws {errors.JOSEError} when there is no such key
   */
  async find(header: JWTHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const needed = this.#fetchesStarted + 1; // only a fetch that starts now is sure to see a key published before
    await this.#ensureUsable();
    for (;;) {
      try {
        return await this.#remote(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || this.#fetchesDone >= needed) throw error;
      }
      await this.#fetch();
    }
  }

  async #ensureUsable(): Promise<void> {
    if (Date.now() - this.#fetchedAt < FRESH_MS) return;
    try {
      await this.#fetch();
    } catch (error) {
      if (Date.now() - this.#fetchedAt >= USABLE_MS) throw error;
    }
  }

  /** Fetches the keys, or joins the fetch under way. */
  async #fetch(): Promise<void> {
    if (this.#fetching === undefined) {
      const { waitMs } = this.#budget.take();
      if (waitMs > 0) throw tooManyAttempts(waitMs);
      this.#fetchesStarted += 1;
      this.#fetching = this.#fetchNow().finally(() => (this.#fetching = undefined));
    }
    await this.#fetching;
  }

  async #fetchNow(): Promise<void> {
    try {
      await this.#remote.reload();
      this.#fetchedAt = Date.now();
      this.#fetchesDone = this.#fetchesStarted;
    } catch (cause) {
      this.#logger.warn({ err: cause }, 'keys of the token issuer cannot be fetched');
      throw new AuthenticationError(
        'internal-error',
        'the keys of the token issuer cannot be fetched',
        undefined,
        { cause },
      );
    }
  }

  /** Ends a fetch under way; whoever waits for it is refused. */
  [Symbol.dispose](): void {
    this.#closing.abort();
  }
}
