import type { RemoteSelection, RunEvent } from '@remotes-hub/protocol';
import { HubError, type Failure } from './errors.js';
import type { RunReplay } from './replies.js';

/** Most events of a run that wait to be read. */
const MAX_UNREAD_EVENTS = 10_000;

/** What goes into the input of a run, beside the instruction. Fields not named here are sent as they are. */
export interface PromptOptions {
  /** Remotes whose functions the agent may call: a name, or a name with a prefix for its tools. @default none */
  readonly remotes?: readonly RemoteSelection[];
  /** Names of native tools that replace the agent's toolset; remotes are then not in play. @default the agent's */
  readonly tools?: readonly string[];
  /** Continues what earlier runs of this user with the same id said: 1 to 128 characters. @default none */
  readonly conversationId?: string;
  /** Data for the model, at most 64 KiB of JSON, which it is told not to trust. @default none */
  readonly context?: unknown;
  /** Comes after the agent's instructions: at most 16 KiB. @default none */
  readonly system?: string;
  /** Lowers the agent's step limit. @default the agent's */
  readonly maxSteps?: number;
  /** Lowers the agent's time for a run, in milliseconds. @default the agent's */
  readonly timeoutMs?: number;
  readonly [option: string]: unknown;
}

type RunFinished = Extract<RunEvent, { action: 'run-finished' }>['body'];

/** How a run ended. */
export type RunResult = Pick<RunFinished, 'status' | 'output' | 'usage' | 'finishReason' | 'code' | 'error'>;

/**
 * A run at work. Iterating it gives its events to `run-finished`, once, from the first on (from the first that the hub
 * still has, when it was joined late); who does not iterate loses nothing of {@link Run.result}.
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

/**
 * A prompt on its way: awaiting it gives the {@link Run}, once the hub has accepted it. What a run has can be used at
 * once as well: `for await (const event of hub.prompt(…))`. A refusal rejects all of them.
 */
export interface PromptedRun extends Promise<Run>, AsyncIterable<RunEvent> {
  readonly result: Promise<RunResult>;
  cancel(): Promise<void>;
}

/** Makes what {@link Run} has usable before the run is there. */
export function promptedRun(accepted: Promise<Run>): PromptedRun {
  const result = accepted.then(async (run) => run.result);
  result.catch(() => undefined); // who only awaits or iterates is told there
  return Object.assign(accepted, {
    result,
    cancel: async () => (await accepted).cancel(),
    async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void> {
      yield* await accepted;
    },
  });
}

/** The runs that this session follows and that have not ended, by id. */
export class Runs {
  readonly #runs = new Map<string, Set<RunStream>>();

  /** Follows a run from its first event on. */
  start(runId: string, sendCancel: () => Promise<unknown>): Run {
    return this.#follow(new RunStream(runId, sendCancel));
  }

  /**
   * Follows a run that goes on already, or has ended. Its events so far come from `getReplay`, which takes the reply
   * before the next message is looked at; those that come both ways, or before the reply, are told once.
   */
  async join(
    runId: string,
    sendCancel: () => Promise<unknown>,
    getReplay: () => Promise<RunReplay>,
  ): Promise<Run> {
    const run = this.#follow(new RunStream(runId, sendCancel));
    run.hold();
    try {
      run.replayed((await getReplay()).events);
    } catch (error) {
      this.#forget(run);
      throw error;
    }
    if (run.isFinished) this.#forget(run);
    return run;
  }

  /** Takes an event of any run of the user; those of runs that are not followed are ignored. */
  received(event: RunEvent): void {
    for (const run of this.#runs.get(event.body.runId) ?? []) {
      run.received(event);
      if (run.isFinished) this.#forget(run);
    }
  }

  /** There is a connection again: what the runs have told meanwhile is in their replays. */
  reconnected(getReplay: (runId: string) => Promise<RunReplay>): void {
    for (const runs of this.#runs.values()) for (const run of runs) void this.#catchUp(run, getReplay);
  }

  async #catchUp(run: RunStream, getReplay: (runId: string) => Promise<RunReplay>): Promise<void> {
    run.hold();
    try {
      run.replayed((await getReplay(run.runId)).events);
      if (run.isFinished) this.#forget(run);
    } catch (error) {
      if (!(error instanceof HubError) || error.code === 'connection-lost') return; // with the next connection
      this.#forget(run);
      run.failed(error);
    }
  }

  /** The session has ended. */
  ended(failure: Failure): void {
    for (const runs of this.#runs.values()) for (const run of runs) run.failed(new HubError(failure));
    this.#runs.clear();
  }

  #follow(run: RunStream): RunStream {
    const runs = this.#runs.get(run.runId) ?? new Set();
    this.#runs.set(run.runId, runs.add(run));
    return run;
  }

  #forget(run: RunStream): void {
    const runs = this.#runs.get(run.runId);
    runs?.delete(run);
    if (runs?.size === 0) this.#runs.delete(run.runId);
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
  /** `seq` of the next event: what is below has been told. */
  #nextSeq = 0;
  /** Events that came before those that are to come first. */
  #held: RunEvent[] | undefined;
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

  /** Whether the last event has come. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Keeps what comes back until {@link replayed}. */
  hold(): void {
    this.#held ??= [];
  }

  /** Takes the events so far, and then what was held back. */
  replayed(events: readonly RunEvent[]): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of [...events, ...held]) this.received(event);
  }

  received(event: RunEvent): void {
    if (this.#held !== undefined) {
      this.#held.push(event);
      return;
    }
    if (event.body.seq < this.#nextSeq || this.#isFinished) return;
    this.#nextSeq = event.body.seq + 1;
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

  #finish({ status, output, usage, finishReason, code, error }: RunFinished): void {
    this.#isFinished = true;
    this.#resolve({
      status,
      output,
      usage,
      ...(finishReason === undefined ? {} : { finishReason }),
      ...(code === undefined ? {} : { code }),
      ...(error === undefined ? {} : { error }),
    });
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
