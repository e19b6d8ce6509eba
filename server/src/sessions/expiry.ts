import { SESSION_EXPIRING_NOTICE_MS } from '@remotes-hub/protocol';

/** Node turns a longer delay into 1 ms. */
const MAX_DELAY_MS = 2_147_483_647;

/** What happens before the end of a session's life, and at it. */
export interface ExpiryHandlers {
  readonly soon: (expiresAt: number) => void;
  readonly now: () => void;
}

/** The end of a session's life, with a notice 60 s before. May be set anew. */
export class Expiry implements Disposable {
  #timer: NodeJS.Timeout | undefined;
  #expiresAt: number | undefined;

  constructor(private readonly handlers: ExpiryHandlers) {}

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
      this.handlers.soon(expiresAt);
      this.#at(expiresAt, () => this.#expire());
    });
  }

  #expire(): void {
    this[Symbol.dispose]();
    this.handlers.now();
  }

  #at(time: number, task: () => void): void {
    const delay = time - Date.now();
    if (delay <= 0) task();
    else this.#timer = setTimeout(() => this.#at(time, task), Math.min(delay, MAX_DELAY_MS));
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#expiresAt = undefined;
  }
}
