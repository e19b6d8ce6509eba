import { setTimeout as delay } from 'node:timers/promises';

const PATIENCE_MS = 5_000;
const STEP_MS = 5;

/**
 * Waits until a condition holds: for evidence that no message announces. Real time, even under a fake clock.
 * @throws when it does not hold within 5 s
 */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  for (let waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
    if (holds()) return;
    await delay(STEP_MS);
  }
  throw new Error(`it never happened: ${what}`);
}

/** Rejects when a promise takes longer than 5 s of real time, so that a missing message names itself. */
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
