import type { RemoteSelection, RunEvent } from '@remotes-hub/protocol';
import { HubError, type Failure } from './errors.js';

/** Most events of a run that wait to be read. */
const MAX_UNREAD_EVENTS = 10_000;

/** What goes into the input of a run, beside the instruction. Fields not named here are sent as they are. */
export interface PromptOptions {
  /** Remotes whose functions the agent may call: a name, or a name with a prefix for its tools. @default none */
  readonly remotes?: readonly RemoteSelection[];
  /** Names of native tools that replace the agent's toolset; remotes are then not in play. @default the agent's */
  readonly tools?: readonly string[];
  /** Lowers the agent's step limit. @default the agent's */
  readonly maxSteps?: number;
  readonly [option: string]: unknown;
}

type RunFinished = Extract<RunEvent, { action: 'run-finished' }>['body'];

/** How a run ended. */
export type RunResult = Pick<RunFinished, 'status' | 'output' | 'usage' | 'error'>;

/**
 * A prompt at work. Iterating it gives its events from the first to `run-finished`, once; who does not iterate
 * loses nothing of {@link Run.result}.
 * @throws {HubError} from the iteration: `connection-lost`
 * @throws {RangeError} from the iteration: more than 10 000 events were left unread
 */
export interface Run extends AsyncIterable<RunEvent> {
  readonly runId: string;
  /** How the run ended, `failed` and `cancelled` among it. Rejects with `HubError` only when the connection ends. */
  readonly result: Promise<RunResult>;
  /** Asks the hub to end the run. Harmless when it has ended. @throws {HubError} */
  cancel(): Promise<void>;
}

/** The runs that this session prompted and that have not ended, by id. */
export class Runs {
  readonly #runs = new Map<string, RunStream>();

  /** Follows a run from now on. */
  start(runId: string, sendCancel: () => Promise<unknown>): Run {
    const run = new RunStream(runId, sendCancel);
    this.#runs.set(runId, run);
    return run;
  }

  /** Takes an event of any run of the user; those of runs prompted elsewhere are ignored. */
  received(event: RunEvent): void {
    const run = this.#runs.get(event.body.runId);
    if (event.action === 'run-finished') this.#runs.delete(event.body.runId);
    run?.received(event);
  }

  /** The connection has ended. */
  ended(failure: Failure): void {
    for (const run of this.#runs.values()) run.failed(new HubError(failure));
    this.#runs.clear();
  }
}

class RunStream implements Run {
  readonly result: Promise<RunResult>;
  #resolve: (result: RunResult) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #unread: RunEvent[] = [];
  #isIterated = false;
  #isDropped = false;
  #isFinished = false;
  #error: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(
    readonly runId: string,
    private readonly sendCancel: () => Promise<unknown>,
  ) {
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.result.catch(() => undefined); // who only iterates is told there
  }

  received(event: RunEvent): void {
    if (event.action === 'run-finished') this.#finish(event.body);
    if (this.#isDropped) return;
    this.#unread.push(event);
    if (this.#unread.length > MAX_UNREAD_EVENTS) {
      this.#drop();
      this.#error = new RangeError(
        `more than ${MAX_UNREAD_EVENTS} events of run '${this.runId}' were left unread`,
      );
    }
    this.#wake();
  }

  failed(error: Error): void {
    this.#reject(error);
    this.#error ??= error;
    this.#wake();
  }

  async cancel(): Promise<void> {
    if (this.#isFinished) return;
    try {
      await this.sendCancel();
    } catch (error) {
      if (!(error instanceof HubError) || error.code !== 'run-not-found') throw error;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void> {
    if (this.#isIterated) throw new TypeError('the events of a run can be iterated once');
    this.#isIterated = true;
    try {
      for (;;) {
        const event = this.#unread.shift();
        if (event !== undefined) yield event;
        else if (this.#error !== undefined) throw this.#error;
        else if (this.#isFinished) return;
        else await this.#nextEvent();
      }
    } finally {
      this.#drop();
    }
  }

  #finish({ status, output, usage, error }: RunFinished): void {
    this.#isFinished = true;
    this.#resolve({ status, output, usage, ...(error === undefined ? {} : { error }) });
  }

  #nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #drop(): void {
    this.#isDropped = true;
    this.#unread = [];
  }
}
