import { writeJson } from '../json/json-text.js';
import type { Session } from './session.js';

/** Time over which the sessions of a hub that goes away are asked to come back, in milliseconds. */
const SPREAD_MS_PER_SESSION = 5;
const MIN_SPREAD_MS = 5_000;
const MAX_SPREAD_MS = 30_000;

/**
 * Tells sessions that they are about to be closed since the hub goes away, and each when to come back: at random
 * within a time that grows with their number, so that the next hub is not overrun.
 */
export function announceClosing(sessions: readonly Session[]): void {
  const spreadMs = Math.min(Math.max(sessions.length * SPREAD_MS_PER_SESSION, MIN_SPREAD_MS), MAX_SPREAD_MS);
  for (const session of sessions) {
    const reconnectAfterMs = Math.floor(Math.random() * spreadMs);
    session.send(writeJson({ action: 'session-closing', body: { sessionId: session.id, reconnectAfterMs } }));
  }
}
