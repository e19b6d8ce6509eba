import { SESSION_EXPIRING_NOTICE_MS } from '@remotes-hub/protocol';

/** Node turns a longer delay into 1 ms. */
const MAX_DELAY_MS = 2_147_483_647;

/** Far ends are waited for in steps of this, so that the runtime keeps one list of timers for many sessions. */
const STEP_MS = 60_000;

/** What has an end of its life, and is told of it. */
export interface Expiring {
  expiresSoon(expiresAt: number): void;
  expired(): void;
}

/** The end of a session's life, with a notice 60 s before. May be set anew. */
export class Expiry implements Disposable {
  #timer: NodeJS.Timeout | undefined;
  #expiresAt: number | undefined;

  constructor(private readonly owner: Expiring) {}

  get expiresAt(): number | undefined {
    return this.#expiresAt;
  }

  /** @param expiresAt milliseconds since 1970, or `undefined` for never */
  set(expiresAt: number | undefined): void {
    clearTimeout(this.#timer);
    this.#expiresAt = expiresAt;
    if (expiresAt !== undefined) this.#waitForNotice(expiresAt);
  }

  /** Ends the life now if its time has come. */
  runIfDue(): boolean {
    if (this.#expiresAt === undefined || Date.now() < this.#expiresAt) return false;
    this.#expire();
    return true;
  }

  #waitForNotice(expiresAt: number): void {
    this.#at(expiresAt - SESSION_EXPIRING_NOTICE_MS, () => {
      this.owner.expiresSoon(expiresAt);
      this.#at(expiresAt, () => this.#expire());
    });
  }

  #expire(): void {
    this[Symbol.dispose]();
    this.owner.expired();
  }

  #at(time: number, task: () => void): void {
    const delay = time - Date.now();
    if (delay <= 0) return task();
    const step = delay < STEP_MS ? delay : delay - (delay % STEP_MS);
    this.#timer = setTimeout(() => this.#at(time, task), Math.min(step, MAX_DELAY_MS));
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#expiresAt = undefined;
  }
}
