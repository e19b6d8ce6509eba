const unitMs = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/**
 * Milliseconds of a duration as people write it: a number and `ms`, `s`, `m`, `h` or `d`, as in "1h", "1.5h",
 * "90s", "500ms". The result is a whole number of at least 1.
 * @throws {RangeError} when the text is anything else
 */
export function parseDuration(text: string): number {
  const [, digits = '', unit = ''] = /^([0-9]{1,15}(?:\.[0-9]{1,6})?)(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  const milliseconds = Math.round(Number(digits) * (unitMs.get(unit) ?? Number.NaN));
  if (Number.isSafeInteger(milliseconds) && milliseconds >= 1) return milliseconds;
  throw new RangeError('expected a duration such as 500ms, 90s, 30m, 1h or 7d');
}
