import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { FaultCluster, NODES } from './cluster.js';
import { Contest } from './contest.js';
import { faults, type Fault } from './faults.js';
import { judgeCalls } from './judge.js';
import { Ledger, type CallRecord } from './ledger.js';
import { Load } from './load.js';
import { Problems } from './problems.js';
import type { FaultOutcome, FaultReport } from './report.js';
import { PlayedSession, places } from './sessions.js';
import { untilServed } from './survey.js';

/** How long it may take until everything is served again, in milliseconds. */
const PATIENCE_MS = 30_000;

/** Calm between two faults, in milliseconds. */
const CALM_MS = 1_500;

/** Time for what was late at the end, in milliseconds. */
const SETTLE_MS = 1_000;

/** How the test is run. */
export interface FaultTestOptions {
  /** Names of faults, in their order. */
  readonly names: readonly string[];
  /** Time in which faults begin, over and over, in seconds; without it each comes once. */
  readonly seconds?: number;
  /** Lease of the nodes, in milliseconds. */
  readonly leaseMs: number;
  /** Told what happens. */
  readonly progress?: (text: string) => void;
}

/** Inflicts faults on a cluster under load, one after the other, and judges what its sessions saw. */
export async function runFaults(options: FaultTestOptions): Promise<FaultReport> {
  const startedAt = performance.now();
  await using cluster = await FaultCluster.start(options.leaseMs);
  await using trial = new Trial(cluster, options);
  await trial.run();
  return {
    ...trial.report(),
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    leaseMs: options.leaseMs,
  };
}

/** An outcome whose calls may not have ended yet. */
interface PendingOutcome extends Omit<FaultOutcome, 'failures'> {
  readonly from: number;
  readonly to: number;
}

class Trial implements AsyncDisposable {
  readonly #problems = new Problems();
  readonly #ledger = new Ledger();
  readonly #sessions: PlayedSession[] = [];
  readonly #outcomes: PendingOutcome[] = [];
  readonly #ownDelay = monitorEventLoopDelay();
  #startedAt = 0;
  #endedAt = 0;

  constructor(
    private readonly cluster: FaultCluster,
    private readonly options: FaultTestOptions,
  ) {}

  async run(): Promise<void> {
    this.#ownDelay.enable();
    await this.#untilServedAgain('the start', async () => this.#openSessions());
    this.#startedAt = performance.now();
    {
      await using load = new Load(this.#ledger, this.#sessions);
      await delay(CALM_MS);
      await this.#inflictAll();
      this.#endedAt = performance.now();
      await load.stop();
    }
    await delay(SETTLE_MS);
    await this.#untilServedAgain('the end');
    this.#judge();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ownDelay.disable();
    await Promise.all(this.#sessions.map(async (session) => session[Symbol.asyncDispose]()));
  }

  get #ownDelayMs(): number {
    return Math.round(this.#ownDelay.max / 1e6);
  }

  report(): Omit<FaultReport, 'seconds' | 'leaseMs'> {
    const records = [...this.#ledger.records];
    const lines = this.cluster.nodes.flatMap((node) => node.lines);
    const messages = lines.map(({ msg }) => String(msg)).filter((message) => message !== 'listening');
    const durations = records.map(({ startedAt, endedAt = startedAt }) => endedAt - startedAt);
    const stall = this.#ledger.longestStall(this.#startedAt, this.#endedAt);
    return {
      sessions: this.#sessions.length,
      calls: records.length,
      results: records.filter(({ result }) => result !== undefined).length,
      failures: failuresOf(records),
      longestCallMs: Math.round(durations.reduce((longest, ms) => Math.max(longest, ms), 0)),
      longestStallMs: Math.round(stall.ms),
      reconnects: this.#sessions.reduce((sum, { reconnectedAt }) => sum + reconnectedAt.length, 0),
      faults: this.#outcomes.map(({ from, to, ...outcome }) => ({
        ...outcome,
        failures: failuresOf(this.#ledger.during(from, to)),
      })),
      longestOwnDelayMs: this.#ownDelayMs,
      logged: countEach(messages),
      problems: this.#problems.list(),
    };
  }

  #judge(): void {
    for (const [index, { stderr }] of this.cluster.nodes.entries())
      if (stderr !== '') this.#problems.add('a node wrote to standard error', `node ${index}: ${stderr}`);
    const { silences } = this.cluster;
    const [ledger, sessions, ownDelayMs] = [this.#ledger, this.#sessions, this.#ownDelayMs];
    judgeCalls({ ledger, sessions, silences, ownDelayMs }, this.#problems);
  }

  async #openSessions(): Promise<void> {
    for (const place of places())
      this.#sessions.push(await PlayedSession.open(place, this.cluster, this.#ledger, this.#problems));
  }

  async #inflictAll(): Promise<void> {
    const { seconds, names } = this.options;
    const end = this.#startedAt + (seconds ?? 0) * 1_000;
    const isOver = (number: number): boolean =>
      seconds === undefined ? number === names.length : performance.now() > end;
    for (let number = 0; !isOver(number); number += 1) {
      const name = names[number % names.length] ?? '';
      const fault = faults.get(name);
      if (fault === undefined) throw new RangeError(`there is no fault '${name}'`);
      await this.#inflict(name, fault, number);
    }
  }

  async #inflict(name: string, fault: Fault, number: number): Promise<void> {
    const node = fault.node ?? number % NODES;
    this.options.progress?.(`${name}, node ${node}`);
    const contest = await Contest.begin(number, node, this.#sessions, this.#problems);
    const from = performance.now();
    await fault.inflict(this.cluster, node, this.#problems);
    const liftedAt = performance.now();
    const servedAt = await this.#untilServedAgain(name);
    this.#outcomes.push({
      from,
      to: servedAt,
      fault: name,
      atMs: Math.round(from - this.#startedAt),
      node,
      tookMs: Math.round(liftedAt - from),
      servedAgainMs: Math.round(servedAt - liftedAt),
      longestStallMs: this.#stall(from, servedAt),
      longestStallAcrossNodesMs: this.#stall(from, servedAt, (record) => this.#isAcross(record)),
      nameTaken: await contest.end(this.#sessions),
    });
    await delay(CALM_MS);
  }

  /** @returns when everything was served, or when it was given up */
  async #untilServedAgain(after: string, act: () => Promise<void> = async () => undefined): Promise<number> {
    await act();
    const left = await untilServed(this.cluster, this.#sessions, PATIENCE_MS);
    if (left.length > 0) this.#problems.add(`not everything is served after ${after}`, left.join('; '));
    return performance.now();
  }

  #stall(from: number, to: number, counts?: (record: CallRecord) => boolean): number {
    return Math.round(this.#ledger.longestStall(from, to, counts).ms);
  }

  #isAcross({ caller, target }: CallRecord): boolean {
    return this.#sessions[caller]?.place.node !== this.#sessions[target]?.place.node;
  }
}

function failuresOf(records: readonly CallRecord[]): Record<string, number> {
  return countEach(records.flatMap(({ failure }) => failure?.code ?? []));
}

function countEach(words: readonly string[]): Record<string, number> {
  const numbers = new Map<string, number>();
  for (const word of words) numbers.set(word, (numbers.get(word) ?? 0) + 1);
  return Object.fromEntries(numbers);
}
