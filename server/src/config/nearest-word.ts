/**
 * The word that a misspelt one was probably meant to be: the nearest by letters inserted, left out, changed or
 * swapped, upper and lower case being the same; `undefined` when none is near.
 */
export function nearestWord(word: string, candidates: readonly string[]): string | undefined {
  const lower = word.slice(0, 64).toLowerCase();
  let nearest: string | undefined;
  let least = Math.max(2, Math.floor(lower.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(lower, candidate.toLowerCase());
    if (distance < least && distance < candidate.length) {
      nearest = candidate;
      least = distance;
    }
  }
  return nearest;
}

/** Edits from one word to the other; two neighbours swapped count as one (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const cost = from[row - 1] === to[column - 1] ? 0 : 1;
      let best = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + cost);
      if (from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        best = Math.min(best, at(beforeLast, column - 2) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
