import { MAX_CALL_TIMEOUT_MS, MAX_NAME_LENGTH } from '@remotes-hub/protocol';

/*
 * Bounds of calls that are recognised without their schema, which is the definition.
 */

/** Nonces of calls that are recognised are no longer than this in JSON, far below the bound of the wire. */
export const SHORT_NONCE_LENGTH = 64;

/** Whether a remote or a function can have this name. */
export function isName(text: string): boolean {
  return text.length >= 1 && text.length <= MAX_NAME_LENGTH;
}

/** Whether a call may ask for so much time, in milliseconds. */
export function isCallTimeout(timeoutMs: number): boolean {
  return timeoutMs >= 1 && timeoutMs <= MAX_CALL_TIMEOUT_MS;
}
