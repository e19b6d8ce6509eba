/** What does not hold: each kind once, with how often it was met and what was met first. */
export class Problems {
  readonly #kinds = new Map<string, { count: number; readonly first: string }>();

  /** @param kind the broken rule @param detail who or what broke it */
  add(kind: string, detail: string): void {
    const known = this.#kinds.get(kind);
    if (known === undefined) this.#kinds.set(kind, { count: 1, first: detail });
    else known.count += 1;
  }

  list(): string[] {
    return [...this.#kinds].map(([kind, { count, first }]) =>
      count === 1 ? `${kind}: ${first}` : `${kind}: ${count} times, first ${first}`,
    );
  }
}
