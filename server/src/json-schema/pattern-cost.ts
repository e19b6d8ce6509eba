// What a Unicode property costs to read, and to repeat: it is a class of some hundred ranges.
const propertyCost = 100;
const repeatedPropertyCost = 10;

// A cap, so that products of repeats stay numbers that can be compared.
const maxCost = 1e9;

/** Counts the instructions that a pattern compiles to, while it is read from left to right. */
export class PatternCost {
  #open: { cost: number; last: number }[] = [];
  #cost = 2;
  /** What the next quantifier repeats. */
  #last = 0;
  #extra = 0;

  atom(instructions: number, properties = 0): void {
    this.#last = instructions + properties * repeatedPropertyCost;
    this.#extra += properties * propertyCost;
    this.#cost += this.#last;
  }

  open(): void {
    this.#open.push({ cost: this.#cost, last: this.#last });
    this.#cost = 1;
    this.#last = 0;
  }

  close(): void {
    const inner = this.#cost;
    this.#cost = (this.#open.pop()?.cost ?? 0) + inner;
    this.#last = inner;
  }

  alternative(): void {
    this.#cost += 1;
    this.#last = 0;
  }

  /** `{min}`, `{min,}`, `{min,max}`; without a minimum `*`, `+` or `?`. */
  quantify(min: string | undefined, isOpen: boolean, max: string | undefined): void {
    const atLeast = Number(min ?? 1);
    const times = max === undefined || max === '' ? atLeast + (isOpen ? 1 : 0) : Number(max);
    const repeated = Math.min(maxCost, Math.max(1, times) * (this.#last + 1));
    this.#cost = Math.min(maxCost, this.#cost - this.#last + repeated);
    this.#last = repeated;
  }

  total(): number {
    return Math.min(maxCost, this.#cost + this.#extra);
  }
}

/**
 * A bound for a pattern that is not ECMAScript and so is not read: as if its whole text were inside
 * all of its repeats.
 */
export function unreadPatternCost(pattern: string): number {
  let cost = pattern.length + propertyCost * (pattern.match(/\\p/gi)?.length ?? 0);
  for (const [, min = '', max = ''] of pattern.matchAll(/\{(\d+),?(\d*)\}/g)) {
    cost *= Math.max(1, Number(min) + 1, Number(max));
    if (cost > maxCost) return maxCost;
  }
  return cost;
}
