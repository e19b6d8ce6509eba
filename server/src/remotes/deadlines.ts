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
  /** By the slot in which they fall. */
  readonly #slots = new Map<number, Set<Overdue>>();
  #timer: NodeJS.Timeout | undefined;
  /** When the timer runs: never later than the next deadline, but sooner when that one has ended meanwhile. */
  #timerAt = Infinity;

  add(item: Overdue): void {
    const slot = slotOf(item);
    const items = this.#slots.get(slot);
    if (items === undefined) this.#slots.set(slot, new Set([item]));
    else items.add(item);
    if (item.dueAt < this.#timerAt) this.#runAt(item.dueAt);
  }

  /** Harmless when it is not waited for. */
  delete(item: Overdue): void {
    const slot = slotOf(item);
    const items = this.#slots.get(slot);
    if (!items?.delete(item) || items.size > 0) return;
    this.#slots.delete(slot);
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
    const due: Overdue[] = [];
    let next = Infinity;
    for (const [slot, items] of this.#slots) {
      if (slot * SLOT_MS > Math.max(now, next)) continue;
      for (const item of items) {
        if (item.dueAt <= now) due.push(item);
        else next = Math.min(next, item.dueAt);
      }
    }
    this.#timerAt = Infinity;
    if (next < Infinity) this.#runAt(next);
    for (const item of due) {
      this.delete(item);
      item.overdue();
    }
  };
}

function slotOf({ dueAt }: Overdue): number {
  return Math.floor(dueAt / SLOT_MS);
}
