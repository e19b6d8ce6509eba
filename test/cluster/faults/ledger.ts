import type { Executed, JsonValue } from '@remotes-hub/client';

/** One call of the load, from the outside and from the inside. Times as `performance.now()` tells them. */
export interface CallRecord {
  readonly id: string;
  /** Index of the session that called. */
  readonly caller: number;
  /** Index of the session that serves the remote. */
  readonly target: number;
  readonly startedAt: number;
  endedAt?: number;
  result?: JsonValue;
  failure?: CallFailure;
  /** Indexes of the sessions whose handlers ran, once for each time. */
  readonly ranAt: number[];
}

/** How a call failed, as its caller was told. */
export interface CallFailure {
  readonly code: string;
  readonly executed: Executed;
  readonly retryable: boolean;
  readonly message: string;
}

/** A time without results. */
export interface Stall {
  readonly ms: number;
  /** When it began. */
  readonly at: number;
}

/** Every call of the load. */
export class Ledger {
  readonly #records = new Map<string, CallRecord>();

  get records(): Iterable<CallRecord> {
    return this.#records.values();
  }

  open(caller: number, target: number): CallRecord {
    const id = `call ${this.#records.size + 1}`;
    const record = { id, caller, target, startedAt: performance.now(), ranAt: [] };
    this.#records.set(id, record);
    return record;
  }

  /** A handler runs. @throws nobody made such a call */
  ran(id: JsonValue | undefined, session: number): void {
    const record = typeof id === 'string' ? this.#records.get(id) : undefined;
    if (record === undefined) throw new Error(`nobody made the call ${JSON.stringify(id)}`);
    record.ranAt.push(session);
  }

  /** The calls that were under way at some time between. */
  during(from: number, to: number): CallRecord[] {
    const isDuring = ({ startedAt, endedAt = Infinity }: CallRecord): boolean =>
      startedAt <= to && endedAt >= from;
    return [...this.#records.values()].filter(isDuring);
  }

  /** The longest time between two results, or between a result and either end of the time looked at. */
  longestStall(from: number, to: number, counts: (record: CallRecord) => boolean = () => true): Stall {
    const times = [from, to];
    for (const record of this.#records.values()) {
      const { endedAt, result } = record;
      if (endedAt !== undefined && result !== undefined && endedAt > from && endedAt < to && counts(record))
        times.push(endedAt);
    }
    let longest: Stall = { ms: 0, at: from };
    times.sort((a, b) => a - b);
    for (const [index, at] of times.entries()) {
      const ms = (times[index + 1] ?? at) - at;
      if (ms > longest.ms) longest = { ms, at };
    }
    return longest;
  }
}
