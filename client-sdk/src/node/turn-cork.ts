/** A stream whose writes can be held back, as those of Node can. */
export interface Corkable {
  cork(): void;
  uncork(): void;
}

/**
 * Writes the frames of one turn of the event loop together. The first goes out at once, so that a lone one waits for
 * nothing; those after it are held until the turn's work is done, and leave in one system call. For small frames that
 * call is most of what they cost.
 */
export class TurnCork {
  /** Frames of this turn. */
  #frames = 0;

  constructor(private readonly stream: Corkable) {}

  /** A frame is about to be written. */
  beforeFrame(): void {
    if (this.#frames === 0) process.nextTick(this.#endTurn);
    else if (this.#frames === 1) this.stream.cork();
    this.#frames += 1;
  }

  /** Lets go what is held: the stream is about to be destroyed, which would lose it. */
  release(): void {
    if (this.#frames < 2) return;
    this.#frames = 1;
    this.stream.uncork();
  }

  readonly #endTurn = (): void => {
    const isHeld = this.#frames > 1;
    this.#frames = 0;
    if (isHeld) this.stream.uncork();
  };
}
