/** Of texts from this length on, slices up to that length are copied; in UTF-16 units. */
const LONG_TEXT = 2_048;
const SHORT_SLICE = 256;

/** Part of a text. V8 keeps all of a text for a slice of it, and a nonce may be kept for long: of a long text a short one is a copy. */
export function sliceOf(text: string, start: number, end: number): string {
  const slice = text.slice(start, end);
  const isKeeping = text.length >= LONG_TEXT && end - start <= SHORT_SLICE;
  return isKeeping ? Buffer.from(slice).toString() : slice;
}
