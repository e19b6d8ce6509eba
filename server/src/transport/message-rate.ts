/** A token bucket: so many messages a second, and as many at once after a pause. */
export class MessageRate {
  #tokens: number;
  #filledAt = Date.now();

  constructor(private readonly perSecond: number) {
    this.#tokens = perSecond;
  }

  /** Counts one message; false when it is one too many. */
  take(): boolean {
    this.#fill(); // each time: what is not filled while there are some left would come on top of them
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #fill(): void {
    const now = Date.now();
    const elapsedMs = Math.max(0, now - this.#filledAt);
    this.#tokens = Math.min(this.perSecond, this.#tokens + (elapsedMs * this.perSecond) / 1_000);
    this.#filledAt = now;
  }
}
