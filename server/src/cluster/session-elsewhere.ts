import { JsonText, type OutgoingText } from '../json/json-text.js';
import { closeCodes } from '@remotes-hub/protocol';
import type { ServingSession } from '../remotes/serving-session.js';
import type { Backplane } from './backplane.js';

/** What is known of a session on another node. */
export interface SessionElsewhereOptions {
  readonly nodeId: string;
  readonly sessionId: string;
  readonly userId: string;
  readonly instanceKey: string;
  readonly speaksV1: boolean;
  readonly backplane: Pick<Backplane, 'send'>;
}

/**
 * A session on another node that has taken over calls in flight from one of this node: its instance has come back there.
 * It answers them through its node, and is told of those that end.
 */
export class SessionElsewhere implements ServingSession {
  readonly userId: string;
  readonly instanceKey: string;
  readonly speaksV1: boolean;
  readonly nodeId: string;
  readonly endCause = undefined;
  readonly #options: SessionElsewhereOptions;
  #endListeners: (() => void)[] = [];
  #isOpen = true;
  #endCode: number | undefined;

  constructor(options: SessionElsewhereOptions) {
    this.#options = options;
    this.userId = options.userId;
    this.instanceKey = options.instanceKey;
    this.speaksV1 = options.speaksV1;
    this.nodeId = options.nodeId;
  }

  get isResumable(): boolean {
    return this.#endCode === undefined || this.#endCode === closeCodes.replaced;
  }

  send(text: OutgoingText): void {
    const { backplane, nodeId, sessionId } = this.#options;
    backplane.send(nodeId, { head: ['frame', sessionId], body: new JsonText(text.toString()) });
  }

  /** It holds no name here that somebody could want. */
  async probe(): Promise<boolean> {
    return this.#isOpen;
  }

  onEnd(listener: () => void): void {
    if (this.#isOpen) this.#endListeners.push(listener);
    else listener();
  }

  /** @param code of its close frame; none when it was lost */
  end(code?: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#endCode = code;
    const listeners = this.#endListeners;
    this.#endListeners = [];
    for (const listener of listeners) listener();
  }
}
