import { JsonText, writeJson } from '../json/json-text.js';
import { RemoteError } from '../remotes/remote-error.js';

/** How much of one run is kept: events, and bytes of their JSON text. The last event is kept whatever its size. */
export const MAX_RUN_EVENTS = 5_000;
export const MAX_RUN_EVENT_BYTES = 1024 * 1024;
/** How long a run is kept after its end, in milliseconds. */
export const ENDED_RUN_TTL_MS = 300_000;
/** How many ended runs of one user are kept. */
export const MAX_ENDED_RUNS_PER_USER = 32;
/** How much of all ended runs together is kept, in bytes of JSON text. */
const MAX_ENDED_BYTES = 128 * 1024 * 1024;

/** A run as `run-get` tells it. */
export interface RunReplay {
  readonly runId: string;
  /** `seq` of the first event: above 0 when older ones are gone. */
  readonly firstSeq: number;
  readonly isFinished: boolean;
  /** JSON text of an array: the events as they were sent. */
  readonly events: JsonText;
}

/** The last events of one run. */
export class RunRecord {
  readonly #events: string[] = [];
  #bytes = 0;
  #firstSeq = 0;
  /** When it ended, by the clock of its history. */
  endedAt: number | undefined;

  constructor(
    readonly userId: string,
    readonly runId: string,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes the next event. @param body JSON text of an object */
  add(action: string, body: JsonText): void {
    const text = writeJson({ action, body });
    this.#events.push(text);
    this.#bytes += Buffer.byteLength(text);
    let dropped = 0;
    while (this.#isTooMuch(dropped)) {
      this.#bytes -= Buffer.byteLength(this.#events[dropped] ?? '');
      dropped += 1;
    }
    if (dropped > 0) this.#events.splice(0, dropped);
    this.#firstSeq += dropped;
  }

  replay(): RunReplay {
    return {
      runId: this.runId,
      firstSeq: this.#firstSeq,
      isFinished: this.endedAt !== undefined,
      events: new JsonText(`[${this.#events.join(',')}]`),
    };
  }

  #isTooMuch(dropped: number): boolean {
    const left = this.#events.length - dropped;
    return left > 1 && (left > MAX_RUN_EVENTS || this.#bytes > MAX_RUN_EVENT_BYTES);
  }
}

/**
 * The events of runs, for sessions that join late: of every run under way, and of ended ones for a while. In
 * memory and bounded; what has grown too old goes when something else ends or is asked for, so no timer is needed.
 */
export class RunHistory {
  readonly #running = new Map<string, RunRecord>();
  /** In the order in which they ended. */
  readonly #ended = new Map<string, RunRecord>();
  /** Ids of a user's ended runs, in the same order. */
  readonly #endedByUser = new Map<string, Set<string>>();
  #endedBytes = 0;

  /** @param now milliseconds that only grow */
  constructor(private readonly now: () => number = () => Date.now()) {}

  /** Begins a record. */
  begin(userId: string, runId: string): RunRecord {
    const record = new RunRecord(userId, runId);
    this.#running.set(runId, record);
    return record;
  }

  /** The run has sent its last event. */
  end(record: RunRecord): void {
    if (!this.#running.delete(record.runId)) return;
    record.endedAt = this.now();
    this.#ended.set(record.runId, record);
    this.#endedBytes += record.bytes;
    const ids = this.#endedByUser.get(record.userId) ?? new Set();
    this.#endedByUser.set(record.userId, ids.add(record.runId));
    this.#makeRoom(record.userId);
  }

  /** @throws {RemoteError} `run-not-found`, also for a run of another user and for one that ended too long ago */
  get(userId: string, runId: string): RunReplay {
    this.#expire();
    const record = this.#running.get(runId) ?? this.#ended.get(runId);
    if (record === undefined || record.userId !== userId) {
      throw new RemoteError('run-not-found', `no run with id '${runId}'`);
    }
    return record.replay();
  }

  /** How many runs are kept; for tests and figures. */
  get size(): number {
    return this.#running.size + this.#ended.size;
  }

  /** Forgets everything. */
  clear(): void {
    this.#running.clear();
    this.#ended.clear();
    this.#endedByUser.clear();
    this.#endedBytes = 0;
  }

  #makeRoom(userId: string): void {
    this.#expire();
    const ids = this.#endedByUser.get(userId);
    const [oldest] = ids ?? [];
    if (oldest !== undefined && (ids?.size ?? 0) > MAX_ENDED_RUNS_PER_USER) this.#forget(oldest);
    for (const runId of this.#ended.keys()) {
      if (this.#endedBytes <= MAX_ENDED_BYTES) return;
      this.#forget(runId);
    }
  }

  /** Those that ended first are at the front. */
  #expire(): void {
    const before = this.now() - ENDED_RUN_TTL_MS;
    for (const [runId, { endedAt = 0 }] of this.#ended) {
      if (endedAt > before) return;
      this.#forget(runId);
    }
  }

  #forget(runId: string): void {
    const record = this.#ended.get(runId);
    if (record === undefined) return;
    this.#ended.delete(runId);
    this.#endedBytes -= record.bytes;
    const ids = this.#endedByUser.get(record.userId);
    ids?.delete(runId);
    if (ids?.size === 0) this.#endedByUser.delete(record.userId);
  }
}
