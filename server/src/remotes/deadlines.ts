import { LinkedList, type Place } from '../linked-list.js';

/** Items whose deadlines lie within this time are kept together, in milliseconds. */
const SLOT_MS = 50;

/** Something that must not last for ever. */
export interface Overdue {
  /** Its deadline, in milliseconds of {@link performance.now}. Changed only while it is not waited for. */
  readonly dueAt: number;
  /** Its deadline has passed. */
  overdue(): void;
}

/**
 * Waits for the deadlines of many with one timer. A timer each would be made and thrown away with every call, though next
 * to none is ever needed; for the same reason the one outlives what it was made for, until it runs. It keeps no process
 * alive.
 */
export class Deadlines implements Disposable {
  /** By the slot in which they fall; one that has become empty is there until the next sweep. */
  readonly #slots = new Map<number, LinkedList<Overdue>>();
  #timer: NodeJS.Timeout | undefined;
  /** When the timer runs: never later than the next deadline, but sooner when that one has ended meanwhile. */
  #timerAt = Infinity;

  /** Waits for the deadline of an item, until it leaves its place or is overdue. */
  add(item: Overdue): Place<Overdue> {
    const slot = Math.floor(item.dueAt / SLOT_MS);
    let items = this.#slots.get(slot);
    if (items === undefined) this.#slots.set(slot, (items = new LinkedList<Overdue>()));
    if (item.dueAt < this.#timerAt) this.#runAt(item.dueAt);
    return items.add(item);
  }

  /** Nothing is waited for any more. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timerAt = Infinity;
    this.#slots.clear();
  }

  #runAt(time: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = time;
    this.#timer = setTimeout(this.#sweep, Math.max(0, Math.ceil(time - performance.now()))).unref();
  }

  readonly #sweep = (): void => {
    const now = performance.now();
    const due: Place<Overdue>[] = [];
    let next = Infinity;
    for (const [slot, items] of this.#slots) {
      if (items.size === 0) this.#slots.delete(slot);
      else if (slot * SLOT_MS > Math.max(now, next)) continue;
      for (const place of items.places()) {
        if (place.value.dueAt <= now) due.push(place);
        else next = Math.min(next, place.value.dueAt);
      }
    }
    this.#timerAt = Infinity;
    if (next < Infinity) this.#runAt(next);
    for (const place of due) if (place.leave()) place.value.overdue();
  };
}
