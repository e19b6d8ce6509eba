import { isJsonObject, type JsonObject } from '../json/json-values.js';
import { show } from './expectations.js';
import { RuleFailure } from './rule.js';

/** How long a rule waits for one message, in milliseconds, unless it says otherwise. */
export const PATIENCE_MS = 5_000;

/** A frame as it came; `message` is `{}` when it holds no JSON object. */
export interface Frame {
  readonly text: string;
  readonly message: JsonObject;
  readonly isBinary: boolean;
}

/** How a connection ended. */
export interface Close {
  readonly code: number;
  readonly reason: string;
}

/** Reads a frame. */
export function readFrame(text: string, isBinary: boolean): Frame {
  try {
    const message: unknown = JSON.parse(text);
    return { text, isBinary, message: isJsonObject(message) ? message : {} };
  } catch {
    return { text, isBinary, message: {} };
  }
}

/** The frames of one connection in the order they came, until a rule takes them. */
export class Inbox {
  /** All that ever came. */
  readonly received: Frame[] = [];
  readonly #untaken: Frame[] = [];
  readonly #waiting = new Set<() => void>();
  #close: Close | undefined;

  /** How the connection ended, once it has. */
  get close(): Close | undefined {
    return this.#close;
  }

  add(frame: Frame): void {
    this.received.push(frame);
    this.#untaken.push(frame);
    this.#wake();
  }

  end(close: Close): void {
    this.#close = close;
    this.#wake();
  }

  /** Frames that came, fit, and were not taken. */
  untaken(fits: (frame: Frame) => boolean = () => true): readonly Frame[] {
    return this.#untaken.filter((frame) => fits(frame));
  }

  /** Takes the first frame that fits; waits for it. @throws {RuleFailure} it does not come, or the connection ends */
  async take(fits: (frame: Frame) => boolean, what: string, patienceMs = PATIENCE_MS): Promise<Frame> {
    const index = await this.#until(
      () => {
        const found = this.#untaken.findIndex((frame) => fits(frame));
        return found === -1 ? undefined : found;
      },
      what,
      patienceMs,
      true,
    );
    const [frame] = this.#untaken.splice(index, 1);
    if (frame === undefined) throw new RuleFailure(what, 'nothing');
    return frame;
  }

  /** Waits for the end of the connection. @throws {RuleFailure} it stays open */
  async closed(what: string, patienceMs = PATIENCE_MS): Promise<Close> {
    return this.#until(() => this.#close, what, patienceMs, false);
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #until<Found>(
    find: () => Found | undefined,
    what: string,
    patienceMs: number,
    needsOpen: boolean,
  ): Promise<Found> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const give = (why: string): void => {
        done();
        reject(new RuleFailure(what, `${why}${this.#unexpected()}`));
      };
      const look = (): void => {
        const found = find();
        if (found !== undefined) {
          done();
          resolve(found);
        } else if (needsOpen && this.#close !== undefined) {
          give(`the end of the connection (${this.#close.code} ${this.#close.reason})`);
        }
      };
      const timer = setTimeout(() => give(`nothing within ${patienceMs} ms`), patienceMs);
      this.#waiting.add(look);
      look();
    });
  }

  #unexpected(): string {
    const last = this.#untaken.slice(-3).map(({ text }) => show(text));
    return last.length === 0 ? '' : `; what came instead: ${last.join(' ')}`;
  }
}
