import type { StepCounter } from './step-counter.js';

/** A moment in the life of some marks, to return to when a branch fails. */
export interface MarksState {
  readonly names: number;
  readonly indices: number;
  readonly itemCount: number;
  readonly allProperties: boolean;
  readonly allItems: boolean;
}

/**
 * Which properties or items of one value were evaluated by the schemas applied to it:
 * what `unevaluatedProperties` and `unevaluatedItems` leave alone.
 */
export class Marks {
  allProperties = false;
  allItems = false;
  /** Items below this index are evaluated. */
  itemCount = 0;
  readonly #names = new Set<string>();
  readonly #indices = new Set<number>();
  // The same members in order, so that a failed branch can be undone without a copy.
  readonly #nameLog: string[] = [];
  readonly #indexLog: number[] = [];

  constructor(private readonly counter: StepCounter) {}

  addProperty(name: string): void {
    this.counter.spend(10);
    if (this.allProperties || this.#names.has(name)) return;
    this.#names.add(name);
    this.#nameLog.push(name);
  }

  addItem(index: number): void {
    this.counter.spend(10);
    if (this.allItems || this.#indices.has(index)) return;
    this.#indices.add(index);
    this.#indexLog.push(index);
  }

  addItems(count: number): void {
    this.itemCount = Math.max(this.itemCount, count);
  }

  hasProperty(name: string): boolean {
    return this.allProperties || this.#names.has(name);
  }

  hasItem(index: number): boolean {
    return this.allItems || index < this.itemCount || this.#indices.has(index);
  }

  addAll(other: Marks): void {
    this.allProperties ||= other.allProperties;
    this.allItems ||= other.allItems;
    this.addItems(other.itemCount);
    for (const name of other.#nameLog) this.addProperty(name);
    for (const index of other.#indexLog) this.addItem(index);
  }

  state(): MarksState {
    return {
      names: this.#nameLog.length,
      indices: this.#indexLog.length,
      itemCount: this.itemCount,
      allProperties: this.allProperties,
      allItems: this.allItems,
    };
  }

  returnTo(state: MarksState): void {
    for (const name of this.#nameLog.splice(state.names)) this.#names.delete(name);
    for (const index of this.#indexLog.splice(state.indices)) this.#indices.delete(index);
    this.itemCount = state.itemCount;
    this.allProperties = state.allProperties;
    this.allItems = state.allItems;
  }
}
