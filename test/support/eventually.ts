import { setTimeout as delay } from 'node:timers/promises';

/** Generous, for machines under load; nothing waits this long when it works. */
const PATIENCE_MS = 15_000;
const STEP_MS = 5;

/**
 * Waits until a condition holds: for evidence that no message announces. Real time, even under a fake clock.
 * @throws when it does not hold within `patienceMs` of real time
 */
export async function eventually(
  holds: () => boolean,
  what: string,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const deadline = realMs() + patienceMs;
  while (realMs() < deadline) {
    if (holds()) return;
    await delay(STEP_MS);
  }
  throw new Error(`it never happened: ${what}`);
}

/** A clock that no test fakes. */
function realMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Rejects when a promise takes too long in real time, so that a missing message names itself. */
export async function soon<T>(promise: Promise<T>, what: string): Promise<T> {
  const abort = new AbortController();
  const tooLate = delay(PATIENCE_MS, undefined, { signal: abort.signal }).then(
    () => {
      throw new Error(`it never came: ${what}`);
    },
    () => promise,
  );
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    abort.abort();
  }
}
