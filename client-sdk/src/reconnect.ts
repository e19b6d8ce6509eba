import type { JsonValue } from '@remotes-hub/protocol';
import { closeCodes } from '@remotes-hub/protocol/close-codes';
import type { FailureCode } from './errors.js';
import { isJsonObject } from './json-values.js';

/** How a lost connection is opened anew. */
export interface ReconnectOptions {
  /**
   * Most that the first attempt waits, in milliseconds: an integer from 1 to 60 000. Each wait is random between
   * nothing and a bound that doubles with every failed attempt, so that the clients of a hub that restarts do not come
   * back together.
   * @default 5 000
   */
  readonly delayMs?: number;
  /** Most that any attempt waits, in milliseconds: an integer from 1 to 60 000. @default 30 000 */
  readonly maxDelayMs?: number;
}

/** How long a connection must have lasted for the next loss to be the first again, in milliseconds. */
export const STABLE_MS = 10_000;

/** Most that a hub may ask for, in milliseconds. */
const MAX_HINT_MS = 60_000;

/** Closes after which the same would come again: the hub does not want this client as it is. */
const finalCodes: ReadonlySet<number> = new Set([
  closeCodes.protocolError,
  closeCodes.unsupportedData,
  closeCodes.invalidPayload,
  closeCodes.policyViolation,
  closeCodes.messageTooBig,
  closeCodes.protocolAbuse,
  closeCodes.replaced,
]);

/** Whether a connection that ended with this close code may be opened anew. */
export function mayReconnect(code: number): boolean {
  return !finalCodes.has(code);
}

/**
 * How long to wait before an attempt, in milliseconds: full jitter from the first one on.
 * @param attempt counted from 0
 * @param hintMs the time that the hub asked for, to which less jitter is added: it spreads its clients itself
 */
export function reconnectDelay(
  attempt: number,
  { delayMs, maxDelayMs }: Required<ReconnectOptions>,
  hintMs?: number,
): number {
  if (hintMs !== undefined) return hintMs + (Math.random() * Math.min(hintMs, delayMs)) / 4;
  return Math.random() * Math.min(maxDelayMs, delayMs * 2 ** Math.min(attempt, 16));
}

/** Refusals that the same login would get again. */
const finalRefusals: ReadonlySet<FailureCode> = new Set([
  'invalid-body',
  'malformed-message',
  'unknown-action',
]);

/** Whether the hub did not like the credentials. */
export function isRefusedLogin(code: FailureCode): boolean {
  return code === 'invalid-credentials' || code === 'not-authenticated';
}

/**
 * Whether an attempt that failed may be followed by another one. A close during the login, 4401 among it, says nothing
 * of the credentials: a hub pushes out who waits too long when many come at once.
 * @param closeCode how the connection ended; `undefined` when the hub answered the login
 * @param isRenewable whether the next one has other credentials
 */
export function mayTryAgain(code: FailureCode, closeCode: number | undefined, isRenewable: boolean): boolean {
  if (closeCode !== undefined) return mayReconnect(closeCode);
  return isRefusedLogin(code) ? isRenewable : !finalRefusals.has(code);
}

/** The time in `session-closing` after which the hub wants to see this client again, in milliseconds. */
export function readHint(body: JsonValue | undefined): number | undefined {
  if (!isJsonObject(body)) return undefined;
  const { reconnectAfterMs: hintMs } = body;
  return typeof hintMs === 'number' && hintMs >= 0 ? Math.min(hintMs, MAX_HINT_MS) : undefined;
}
