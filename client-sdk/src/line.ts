import type { Close } from './errors.js';

/** What requests and answers need of a connection, whichever socket is under it at the time. */
export interface Line {
  /** Whether messages can be sent. */
  readonly isOpen: boolean;
  /** How it ended for good, once it has. */
  readonly ending: Close | undefined;
  /** The largest frame that the hub takes. */
  readonly maxMessageBytes: number;
  /** Sends a frame; `false` when it is not open and nothing was sent. */
  send(text: string): boolean;
  /** Waits until it is open, at most so long; `false` when it is not, or never will be. */
  whenOpen(timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
}
