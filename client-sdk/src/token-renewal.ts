/** Time between two attempts, in milliseconds. */
const PAUSE_MS = 5_000;

/** Renews the token of an open connection before it expires; tries again until there is one, and never too often. */
export class TokenRenewal {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastAt = 0;

  /** @param renew gets a token and logs in with it; false when there is none yet */
  constructor(private readonly renew: () => Promise<boolean>) {}

  /** The token is about to expire. */
  async start(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.start(), PAUSE_MS);
    if (Date.now() - this.#lastAt < PAUSE_MS) return;
    this.#lastAt = Date.now();
    try {
      if (await this.renew()) clearTimeout(this.#timer);
    } catch {
      // tried again, until the hub closes an expired session and the next login says why
    }
  }

  /** The connection has ended. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}
