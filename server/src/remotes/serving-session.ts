import type { OutgoingText } from '../json/json-text.js';

/** A session, as far as its remotes need it. */
export interface ServingSession {
  readonly userId: string;
  /** Stands for its client's own id; a later session with the same one may take up what this one left. */
  readonly instanceKey: string | undefined;
  readonly speaksV1: boolean;
  /** Why it ended, where those who wait for it should know. */
  readonly endCause: string | undefined;
  /** Whether it ended so that its instance may come back: its connection was lost, or replaced by that instance. */
  readonly isResumable: boolean;
  send(text: OutgoingText): void;
  /** Asks for a sign of life; false when there was none, and the session has ended. */
  probe(): Promise<boolean>;
  /** Runs when the session ends; at once when it has. */
  onEnd(listener: () => void): void;
}
