import { setTimeout as delay } from 'node:timers/promises';
import { RemoteError } from '@remotes-hub/client';
import type { CallRecord, Ledger } from './ledger.js';
import type { PlayedSession } from './sessions.js';

/** Time between two calls of one session, in milliseconds. They do not wait for each other. */
const EVERY_MS = 40;

/** How long a call may take, in milliseconds. */
export const CALL_TIMEOUT_MS = 5_000;

/** Every session calls the remotes of its user's others, steadily, whatever becomes of the calls before. */
export class Load implements AsyncDisposable {
  readonly #calls = new Set<Promise<void>>();
  readonly #loops: readonly Promise<void>[];
  #isOver = false;

  constructor(
    private readonly ledger: Ledger,
    private readonly sessions: readonly PlayedSession[],
  ) {
    this.#loops = sessions.map(async (session) => this.#callOn(session));
  }

  /** Makes no further calls, and waits for the end of those that were made. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
    await Promise.all(this.#calls);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #callOn(session: PlayedSession): Promise<void> {
    const { user, index } = session.place;
    const others = this.sessions.filter(({ place }) => place.user === user && place.index !== index);
    while (!this.#isOver) {
      const other = others[Math.floor(Math.random() * others.length)];
      if (other !== undefined) this.#keep(this.#call(session, other));
      await delay(EVERY_MS);
    }
  }

  #keep(call: Promise<void>): void {
    this.#calls.add(call);
    void call.finally(() => this.#calls.delete(call));
  }

  async #call({ hub, place }: PlayedSession, target: PlayedSession): Promise<void> {
    const record: CallRecord = this.ledger.open(place.index, target.place.index);
    const options = { timeoutMs: CALL_TIMEOUT_MS };
    try {
      record.result = await hub.call(target.place.remotename, 'f', { id: record.id }, options);
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      const { code, executed, retryable, message } = error;
      record.failure = { code, executed, retryable, message };
    }
    record.endedAt = performance.now();
  }
}
