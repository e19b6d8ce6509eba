import { untilAborted } from '../until-aborted.js';

/** How often a request that failed for a passing reason is sent again. */
export const MAX_RETRIES = 3;

/** Wait before the first retry when the provider asks for none, in milliseconds; it doubles with each. */
const FIRST_WAIT_MS = 500;
/** Of which at most so much is left out at random, so that many runs do not come back together. */
const JITTER = 0.25;

/** How long a request may be tried. */
export interface RetryBounds {
  /** Ends the request, and the wait for the next. */
  readonly signal: AbortSignal;
  /** From now, in milliseconds: a retry that would come later is not waited for. */
  readonly timeoutMs: number;
}

/**
 * Sends a request, again when it fails for a passing reason: no connection, 408, 409, 429 or 5xx. It waits as long
 * as the provider asks for by `retry-after`. The official clients do the same, but some wait on when the request has
 * been aborted, with a timer that nobody clears.
 * @throws what the last attempt throws; the signal's reason
 */
export async function withRetries<T>(send: () => Promise<T>, { signal, timeoutMs }: RetryBounds): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (let retry = 0; ; retry += 1) {
    try {
      return await untilAborted(send(), signal);
    } catch (error) {
      const waitMs = askedWaitMs(error) ?? backoffMs(retry);
      const isInTime = performance.now() + waitMs < end;
      if (signal.aborted || retry === MAX_RETRIES || !isPassing(error) || !isInTime) throw error;
      await wait(waitMs, signal);
    }
  }
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await untilAborted(new Promise((resolve) => (timer = setTimeout(resolve, ms))), signal);
  } finally {
    clearTimeout(timer);
  }
}

function isPassing(error: unknown): boolean {
  if (headersOf(error)?.get('x-should-retry') === 'false') return false;
  const status = statusOf(error);
  if (status === undefined) return isConnectionFailure(error);
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** The status of a provider's answer, when there was one. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('status' in error)) return undefined;
  return typeof error.status === 'number' ? error.status : undefined;
}

/** The official clients name it the same; their classes are not at hand without them. */
export function isConnectionFailure(error: unknown): boolean {
  const name = error instanceof Error ? error.constructor.name : '';
  return name === 'APIConnectionError' || name === 'APIConnectionTimeoutError';
}

function headersOf(error: unknown): Headers | undefined {
  if (typeof error !== 'object' || error === null || !('headers' in error)) return undefined;
  return error.headers instanceof Headers ? error.headers : undefined;
}

/** Seconds or a date, or milliseconds in the header that some providers send beside; nothing unless it is to come. */
function askedWaitMs(error: unknown): number | undefined {
  const headers = headersOf(error);
  const ms = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  const after = headers?.get('retry-after') ?? '';
  const seconds = Number.parseFloat(after);
  const asked = [ms, seconds * 1_000, Date.parse(after) - Date.now()].find((each) => !Number.isNaN(each));
  return asked !== undefined && asked > 0 ? asked : undefined;
}

function backoffMs(retry: number): number {
  return FIRST_WAIT_MS * 2 ** retry * (1 - Math.random() * JITTER);
}
