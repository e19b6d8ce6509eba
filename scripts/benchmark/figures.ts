/** One measure of the windows of a floor and of a target beside it, pair by pair. */
export interface Comparison {
  readonly floor: readonly number[];
  readonly target: readonly number[];
  /** Medians; that of `ratio` is of the ratios of the pairs, not the ratio of the medians. */
  readonly medians: { readonly floor: number; readonly target: number; readonly ratio: number };
}

/** Pairs up two lists of the same length. */
export function compare(floor: readonly number[], target: readonly number[]): Comparison {
  const ratios = target.map((value, index) => value / (floor[index] ?? Number.NaN));
  return {
    floor,
    target,
    medians: { floor: median(floor), target: median(target), ratio: median(ratios) },
  };
}

/** What a window gave, by measure. */
export type Window<Measure extends string> = Readonly<Record<Measure, number>>;

/** Runs windows of a floor and of a target by turns, so many of each. @returns each measure, pair by pair */
export async function alternate<Measure extends string>(
  pairs: number,
  floor: () => Promise<Window<Measure>>,
  target: () => Promise<Window<Measure>>,
): Promise<Record<Measure, Comparison>> {
  const floorWindows: Window<Measure>[] = [];
  const targetWindows: Window<Measure>[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    floorWindows.push(await floor());
    targetWindows.push(await target());
  }
  const comparisons = Object.keys(floorWindows[0] ?? {}).map((key) => {
    const measure = key as Measure;
    const of = (windows: readonly Window<Measure>[]): number[] => windows.map((window) => window[measure]);
    return [measure, compare(of(floorWindows), of(targetWindows))];
  });
  return Object.fromEntries(comparisons) as Record<Measure, Comparison>;
}

/** The middle one; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[sorted.length / 2 - 1] ?? Number.NaN) + upper) / 2;
}
