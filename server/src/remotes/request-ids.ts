/** Names whose counts one session keeps; beyond it the oldest are folded into the floor. */
const MAX_COUNTED_NAMES = 1_024;

/**
 * Numbers the calls towards one serving session: `<remotename>#<n>`, `n` from 0 per remote name. A number
 * outlives a disconnect of its remote and is never used again in the session, so a late answer can never
 * settle a newer call. Memory is bounded: a name whose count was dropped starts again above every dropped one.
 */
export class RequestIds {
  readonly #next = new Map<string, number>();
  #floor = 0;

  next(remotename: string): string {
    const n = this.#next.get(remotename) ?? this.#floor;
    this.#next.set(remotename, n + 1);
    if (this.#next.size > MAX_COUNTED_NAMES) this.#dropOldest();
    return `${remotename}#${n}`;
  }

  /** Above every number that was used. */
  get ceiling(): number {
    return Math.max(this.#floor, ...this.#next.values());
  }

  /** No number below this is used from now on: others have used them. */
  raiseTo(floor: number): void {
    this.#floor = Math.max(this.#floor, floor);
  }

  #dropOldest(): void {
    for (const [name, count] of this.#next) {
      this.#floor = Math.max(this.#floor, count);
      this.#next.delete(name);
      return;
    }
  }
}
