/** Entries that may have been added, at least, before the table is made anew. */
const MIN_ADDED = 1_024;

/**
 * A map whose entries come and go quickly. After so many it begins with a new table of its own: V8 links each outgrown
 * table of a `Map` to the next, so that one which has reached the old generation keeps all later ones from being collected
 * young, with everything in them. (Where nothing is looked up by a key, a `LinkedList` is cheaper.)
 */
export class RenewedMap<K, V> {
  #map = new Map<K, V>();
  #added = 0;

  get size(): number {
    return this.#map.size;
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  set(key: K, value: V): void {
    this.#added += 1;
    // copied so seldom that it costs no entry a quarter of a copy
    if (this.#added >= MIN_ADDED && this.#added >= 4 * this.#map.size) {
      this.#map = new Map(this.#map);
      this.#added = 0;
    }
    this.#map.set(key, value);
  }

  /** @returns whether it was there */
  delete(key: K): boolean {
    return this.#map.delete(key);
  }

  /** All values there are now. */
  values(): V[] {
    return [...this.#map.values()];
  }
}
