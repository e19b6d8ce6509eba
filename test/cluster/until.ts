const PATIENCE_MS = 15_000;

/** Waits until the answer to a question that needs I/O is yes. @throws when it is not within `patienceMs` */
export async function until(
  holds: () => Promise<boolean>,
  what: string,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline) if (await holds()) return;
  throw new Error(`it never happened: ${what}`);
}
