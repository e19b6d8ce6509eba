/** Entries that a generation takes. */
const GENERATION = 1_024;

/**
 * A map whose entries come and go quickly; each key is set once. New entries go into a small table, which is thrown away after
 * so many, and what is still there then into another one. V8 links each outgrown table of a `Map` to the next, so that one which
 * has reached the old generation keeps all later ones from being collected young, with everything in them; and a large one is
 * costly to outgrow. (Where nothing is looked up by a key, a `LinkedList` is cheaper.)
 */
export class GenerationalMap<K, V> {
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  /** Since the younger table, and the older one, are new. */
  #added = 0;
  #grown = 0;

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: K, value: V): void {
    this.#added += 1;
    if (this.#added > GENERATION) this.#endGeneration();
    this.#young.set(key, value);
  }

  /** @returns whether it was there */
  delete(key: K): boolean {
    return this.#young.delete(key) || this.#old.delete(key);
  }

  /** All values there are now, in the order they came. */
  values(): V[] {
    return [...this.#old.values(), ...this.#young.values()];
  }

  #endGeneration(): void {
    this.#grown += this.#young.size;
    // copied so seldom that it costs no entry a quarter of a copy
    if (this.#grown >= GENERATION && this.#grown >= 4 * this.#old.size) {
      this.#old = new Map(this.#old);
      this.#grown = 0;
    }
    for (const [key, value] of this.#young) this.#old.set(key, value);
    this.#young = new Map();
    this.#added = 1;
  }
}
