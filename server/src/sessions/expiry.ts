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
  #isNoticed = false;

  constructor(private readonly owner: Expiring) {}

  get expiresAt(): number | undefined {
    return this.#expiresAt;
  }

  /** @param expiresAt milliseconds since 1970, or `undefined` for never */
  set(expiresAt: number | undefined): void {
    clearTimeout(this.#timer);
    this.#expiresAt = expiresAt;
    this.#isNoticed = false;
    this.goOn();
  }

  /** Ends the life now if its time has come. */
  runIfDue(): boolean {
    if (this.#expiresAt === undefined || Date.now() < this.#expiresAt) return false;
    this.#expire();
    return true;
  }

  /** Goes on from the last step. */
  goOn(): void {
    const expiresAt = this.#expiresAt;
    if (expiresAt === undefined) return;
    if (!this.#isNoticed) {
      if (!this.#hasCome(expiresAt - SESSION_EXPIRING_NOTICE_MS)) return;
      this.#isNoticed = true;
      this.owner.expiresSoon(expiresAt);
    }
    if (this.#hasCome(expiresAt)) this.#expire();
  }

  /** Whether it is that late; otherwise it goes on in a while. */
  #hasCome(time: number): boolean {
    const delay = time - Date.now();
    if (delay <= 0) return true;
    const step = delay < STEP_MS ? delay : delay - (delay % STEP_MS);
    this.#timer = setTimeout(goOn, Math.min(step, MAX_DELAY_MS), this);
    return false;
  }

  #expire(): void {
    this[Symbol.dispose]();
    this.owner.expired();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#expiresAt = undefined;
  }
}

/** One function for all, since one of these is waiting for every session. */
function goOn(expiry: Expiry): void {
  expiry.goOn();
}
