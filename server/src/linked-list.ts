/** Where a value is in a {@link LinkedList}, until it leaves it. */
export class Place<T> {
  #list: LinkedList<T> | undefined;
  /** The neighbours; the list's own business. */
  before: Place<T> | undefined;
  after: Place<T> | undefined;

  constructor(
    readonly value: T,
    list: LinkedList<T>,
  ) {
    this.#list = list;
  }

  /** Takes the value out. @returns false when it had left already */
  leave(): boolean {
    const list = this.#list;
    if (list === undefined) return false;
    this.#list = undefined;
    list.unlink(this);
    return true;
  }
}

/**
 * Values that come and go quickly, in the order they came. In place of a `Set` or `Map`, which make a new table each time
 * that so many have come and gone: V8 links each old table to the next, so that one which has reached the old generation
 * keeps all later ones from being collected young, with everything in them. A place that was left points nowhere.
 */
export class LinkedList<T> {
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Appends a value. The same one may be in a list several times, in a place each. */
  add(value: T): Place<T> {
    const place = new Place(value, this);
    const last = this.#last;
    place.before = last;
    if (last === undefined) this.#first = place;
    else last.after = place;
    this.#last = place;
    this.#size += 1;
    return place;
  }

  /** All places there are now. */
  places(): Place<T>[] {
    const places: Place<T>[] = [];
    for (let place = this.#first; place !== undefined; place = place.after) places.push(place);
    return places;
  }

  /** All values there are now. */
  values(): T[] {
    return this.places().map(({ value }) => value);
  }

  /** What {@link Place.leave} does to its list. */
  unlink(place: Place<T>): void {
    const { before, after } = place;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    place.before = undefined;
    place.after = undefined;
    this.#size -= 1;
  }
}
