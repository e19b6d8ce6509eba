import { errorCodes, runStatuses, type ErrorCode, type RunStatus } from '@remotes-hub/protocol';

/*
 * What the hub counts, as plain numbers: counting is a few additions and makes nothing. Names, labels and texts come at
 * a scrape alone (prometheus-text.ts). No label ever holds what comes from outside: a user, a remote, a function.
 */

/** How a call ends: with a result, or as one of the codes of the wire. */
export const callOutcomes = ['result', ...errorCodes] as const;
export type CallOutcome = (typeof callOutcomes)[number];

/** How an attempt to log in ends. */
export const loginOutcomes = ['success', 'invalid-credentials', 'rate-limited', 'internal-error'] as const;
export type LoginOutcome = (typeof loginOutcomes)[number];

/** How a step of a model ends: as the model says, or not at all. */
export const modelStepOutcomes = [
  'stop',
  'tool-calls',
  'length',
  'content-filter',
  'other',
  'failed',
  'cancelled',
] as const;
export type ModelStepOutcome = (typeof modelStepOutcomes)[number];

/** Upper bounds of the buckets of {@link CallCounts}, in milliseconds. */
export const DURATION_BOUNDS_MS = [
  0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000,
] as const;

/** Counts by a closed list of names. */
export class CountsByName<Name extends string> {
  readonly #indexes: ReadonlyMap<Name, number>;
  readonly #counts: Float64Array;

  constructor(names: readonly Name[]) {
    this.#indexes = new Map(names.map((name, index) => [name, index]));
    this.#counts = new Float64Array(names.length);
  }

  add(name: Name, by = 1): void {
    const index = this.#indexes.get(name);
    if (index !== undefined) this.#counts[index] = (this.#counts[index] ?? 0) + by;
  }

  /** Every name with its count, in the order of the list. */
  *entries(): Iterable<readonly [Name, number]> {
    for (const [name, index] of this.#indexes) yield [name, this.#counts[index] ?? 0];
  }
}

/** How calls ended, and how long those took that had been forwarded. */
export class CallCounts {
  readonly outcomes = new CountsByName<CallOutcome>(callOutcomes);
  /** Calls by the first bound that is not below their duration; the last one is for longer ones. */
  readonly #buckets = new Float64Array(DURATION_BOUNDS_MS.length + 1);
  #durationMs = 0;

  /** Counts a call that was refused before it was forwarded. */
  refused(code: ErrorCode): void {
    this.outcomes.add(code);
  }

  /** Counts a call that was forwarded. */
  ended(outcome: CallOutcome, durationMs: number): void {
    this.outcomes.add(outcome);
    this.#durationMs += durationMs;
    let bucket = 0;
    // most calls are short: the bound is among the first
    while (durationMs > (DURATION_BOUNDS_MS[bucket] ?? Infinity)) bucket += 1;
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
  }

  /** How many took no longer than each bound, how many there are, and how long all took together. */
  durations(): { readonly atMost: readonly number[]; readonly count: number; readonly sumMs: number } {
    let count = 0;
    const atMost = Array.from(this.#buckets, (inBucket) => (count += inBucket));
    return { atMost: atMost.slice(0, -1), count, sumMs: this.#durationMs };
  }
}

/** What goes over the sockets: messages, and the bytes of their text without frames. */
export class TrafficCounts {
  receivedMessages = 0;
  receivedBytes = 0;
  sentMessages = 0;
  sentBytes = 0;
  /** Connections closed because their peers read too slowly. */
  slowConsumers = 0;
}

/** Runs that have ended, and the steps of their models. */
export class RunCounts {
  readonly statuses = new CountsByName<RunStatus>(runStatuses);
  readonly modelSteps = new CountsByName<ModelStepOutcome>(modelStepOutcomes);
  /** As far as the providers count them. */
  readonly tokens = new CountsByName<'input' | 'output'>(['input', 'output']);
}

/** Everything that one hub counts, since its start. */
export class HubMetrics {
  readonly calls = new CallCounts();
  readonly traffic = new TrafficCounts();
  readonly runs = new RunCounts();
  readonly logins = new CountsByName<LoginOutcome>(loginOutcomes);
}
