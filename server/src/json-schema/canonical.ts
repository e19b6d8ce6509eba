import { isJsonArray, isJsonObject } from '../json/json-values.js';

/** What the writing of a key costs is told to this. */
export interface KeyMeter {
  /** Begins one value. @throws when the budget or the depth is used up */
  enter(steps: number): void;
  leave(): void;
}

/**
 * A text that is the same for equal JSON values and for no others: the order of properties does not
 * count, -0 is 0. Strings carry their length in place of escapes, so that a key is never much longer
 * than the value; numbers carry a prefix, because hashes of numeric texts can be made to collide.
 */
export function canonicalKey(value: unknown, meter: KeyMeter): string {
  if (typeof value === 'string') {
    meter.enter(4 + value.length / 8);
    meter.leave();
    return stringKey(value);
  }
  if (typeof value === 'number') {
    meter.enter(8);
    meter.leave();
    return numberKey(value);
  }
  if (isJsonArray(value)) return arrayKey(value, meter);
  return isJsonObject(value) ? objectKey(value, meter) : String(value);
}

/** `#` and the shortest decimal text of the number. */
export function numberKey(value: number): string {
  return `#${value === 0 ? 0 : value}`;
}

function stringKey(value: string): string {
  return `"${value.length}:${value}`;
}

function arrayKey(value: readonly unknown[], meter: KeyMeter): string {
  let key = '[';
  meter.enter(8 + value.length * 2);
  for (const item of value) key += `${canonicalKey(item, meter)},`;
  meter.leave();
  return `${key}]`;
}

function objectKey(value: Readonly<Record<string, unknown>>, meter: KeyMeter): string {
  const names = Object.keys(value);
  meter.enter(8 + names.length * (names.length > 16 ? 30 : 12));
  let key = '{';
  for (const name of inOrder(names)) {
    key += `${stringKey(name)}:${canonicalKey(value[name], meter)},`;
  }
  meter.leave();
  return `${key}}`;
}

/** Sorts; a few names in place, since the general sort would take longer than the rest of the key. */
function inOrder(names: string[]): string[] {
  if (names.length > 16) return names.toSorted();
  for (let end = 1; end < names.length; end += 1) {
    const name = names[end] ?? '';
    let place = end;
    for (let before = names[place - 1]; before !== undefined && before > name; before = names[place - 1]) {
      names[place] = before;
      place -= 1;
    }
    names[place] = name;
  }
  return names;
}
