import { MAX_NAME_LENGTH } from '@remotes-hub/protocol/limits';

/** Checks the name of a remote or a function. @throws {TypeError | RangeError} */
export function checkName(value: unknown, field: string): string {
  return checkText(value, field, 1, MAX_NAME_LENGTH);
}

/** Checks a string and its length in UTF-16 code units. @throws {TypeError | RangeError} */
export function checkText(value: unknown, field: string, minLength: number, maxLength: number): string {
  if (typeof value !== 'string') throw new TypeError(`${field}: expected a string`);
  if (value.length < minLength || value.length > maxLength) {
    throw new RangeError(`${field}: expected ${minLength} to ${maxLength} characters, got ${value.length}`);
  }
  return value;
}

/** Checks an integer and its range. @throws {TypeError | RangeError} */
export function checkInteger(value: unknown, field: string, min: number, max: number): number {
  if (typeof value !== 'number') throw new TypeError(`${field}: expected a number`);
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new RangeError(`${field}: expected an integer from ${min} to ${max}, got ${value}`);
  }
  return value;
}

/** Checks that it is one, when there is one. @throws {TypeError} */
export function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  // Not `instanceof`: a page may pass the signal of another frame.
  const isSignal = typeof signal === 'object' && signal !== null && 'addEventListener' in signal;
  if (!isSignal) throw new TypeError('signal: expected an AbortSignal');
  return signal;
}

/** Checks a close code and reason of our own. @throws {TypeError | RangeError} as WebSocket allows them */
export function checkClose(code: number, reason: string): void {
  if (code !== 1000) {
    checkInteger(code, 'code (1000, or)', 3_000, 4_999);
  }
  checkText(reason, 'reason', 0, 123);
  if (new TextEncoder().encode(reason).byteLength > 123) {
    throw new RangeError('reason: expected at most 123 bytes of UTF-8');
  }
}
