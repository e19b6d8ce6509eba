/** Most that a silent hub has to answer a ping, in milliseconds; less where less silence is borne. */
const PING_TIMEOUT_MS = 10_000;

/** A timer that is later than this was asleep together with its machine, and so was the answer, in milliseconds. */
const ASLEEP_MS = 5_000;

/** What a probe works with. */
export interface LivenessOptions {
  /** Silence after which the hub is asked for a sign of life, in milliseconds. */
  readonly silenceMs: number;
  /** Sends a ping. */
  readonly ping: () => void;
  /** There was no answer. */
  readonly dead: () => void;
}

/**
 * Finds out that a connection is dead although its socket knows nothing of it. Whatever the hub sends is a sign of
 * life; a ping goes out only in silence. It also keeps a service worker awake, which ends after 30 s without traffic.
 */
export class Liveness {
  #heardAt = Date.now();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: LivenessOptions) {
    this.#listen();
  }

  /** The hub has sent something. */
  heard(): void {
    this.#heardAt = Date.now();
  }

  /** Asks now: the page was away. */
  probe(): void {
    clearTimeout(this.#timer);
    const askedAt = Date.now();
    const timeoutMs = Math.min(PING_TIMEOUT_MS, this.options.silenceMs);
    this.options.ping();
    this.#timer = setTimeout(() => {
      if (this.#heardAt >= askedAt) this.#listen();
      else if (Date.now() - askedAt > timeoutMs + ASLEEP_MS) this.probe();
      else this.options.dead();
    }, timeoutMs);
  }

  /** Ends it. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #listen(): void {
    const { silenceMs } = this.options;
    const leftMs = this.#heardAt + silenceMs - Date.now();
    if (leftMs <= 0) this.probe();
    // a clock that was set back must not silence the probe
    else this.#timer = setTimeout(() => this.#listen(), Math.min(leftMs, silenceMs));
  }
}
