/** A stream whose writes can be held back, as those of Node can. */
export interface Corkable {
  cork(): void;
  uncork(): void;
}

/**
 * Frames that are written together at most. With more, the two sides would take turns: one waits while the other works
 * through all there is.
 */
const MAX_TOGETHER = 16;

/**
 * Writes the frames of one turn of the event loop together, some at a time. For small frames the system call is most of
 * what they cost. A lone frame leaves when the turn's work is done, before anything else happens.
 */
export class TurnCork {
  /** Frames of this turn. */
  #frames = 0;

  constructor(private readonly stream: Corkable) {}

  /** A frame is about to be written. */
  beforeFrame(): void {
    if (this.#frames === 0) process.nextTick(this.#endTurn);
    else if (this.#frames % MAX_TOGETHER === 0) this.stream.uncork();
    if (this.#frames % MAX_TOGETHER === 0) this.stream.cork();
    this.#frames += 1;
  }

  /** Lets go what is held: the stream is about to be destroyed, which would lose it. */
  release(): void {
    if (this.#frames === 0) return;
    this.stream.uncork();
    this.stream.cork(); // what is written after it in this turn is held as before
  }

  readonly #endTurn = (): void => {
    this.#frames = 0;
    this.stream.uncork();
  };
}
