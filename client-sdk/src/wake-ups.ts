/** Events of a page after which a connection may work again, or is found not to. */
const events = ['online', 'pageshow', 'visibilitychange'] as const;

/**
 * Calls back when the network comes back, or the page does: from the cache, or to the foreground. Elsewhere it never
 * does.
 * @returns ends it
 */
export function onWakeUp(listener: () => void): () => void {
  if (typeof addEventListener !== 'function') return () => undefined;
  const wake = (): void => {
    if (typeof document === 'undefined' || document.visibilityState !== 'hidden') listener();
  };
  // `visibilitychange` bubbles from the document
  for (const event of events) addEventListener(event, wake);
  return () => {
    for (const event of events) removeEventListener(event, wake);
  };
}
