const MAX_WARNINGS = 100;

/** What was left out of a run and why, at most 100 sentences: the options come from outside. */
export class RunWarnings {
  readonly #texts: string[] = [];
  #left = 0;

  add(text: string): void {
    if (this.#texts.length < MAX_WARNINGS) this.#texts.push(text);
    else this.#left += 1;
  }

  list(): string[] {
    return this.#left === 0 ? [...this.#texts] : [...this.#texts, `and ${this.#left} more warnings`];
  }
}
