import { Registry } from 'prom-client';
import { addCounter, addCounters, addGauge } from './metric-family.js';
import { DURATION_BOUNDS_MS, type CallCounts, type HubMetrics } from './metrics.js';
import { addProcessMetrics } from './process-metrics.js';

/** What a hub holds at the moment of a scrape. */
export interface HubLevels {
  readonly sessions: number;
  readonly unauthenticated: number;
  readonly remotes: number;
  readonly providers: number;
  readonly pendingCalls: number;
  readonly runs: number;
  /** Messages dropped without an answer, since the start. */
  readonly ignoredMessages: number;
}

/** What a scrape is made of. */
export interface PrometheusTextOptions {
  readonly metrics: HubMetrics;
  readonly levels: () => HubLevels;
  /** Whether the hub can reach its other nodes; always so when there are none. */
  readonly isBackplaneReady: () => boolean;
}

/** Type of {@link PrometheusText.render}, for HTTP. */
export const PROMETHEUS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/**
 * The metrics of one hub and its process in the text format of Prometheus (server/README.md, "Metrics, logs and traces").
 * Its registry is its own, so that several hubs in one process do not collide.
 */
export class PrometheusText implements Disposable {
  readonly #registry = new Registry();
  readonly #calls: CallCounts;
  #processMetrics: Disposable | undefined;
  #isDisposed = false;

  constructor({ metrics, levels, isBackplaneReady }: PrometheusTextOptions) {
    this.#calls = metrics.calls;
    addLevels(this.#registry, levels);
    addGauge(
      this.#registry,
      'remotes_hub_backplane_ready',
      'Whether the other nodes can be reached; 1 also where there are none.',
      () => Number(isBackplaneReady()),
    );
    addTraffic(this.#registry, metrics);
    addOutcomes(this.#registry, metrics);
  }

  /** Everything as it is now. The process is watched from the first time on. */
  async render(): Promise<string> {
    if (!this.#isDisposed) this.#processMetrics ??= addProcessMetrics(this.#registry);
    return `${await this.#registry.metrics()}\n${renderDurations(this.#calls)}`;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#processMetrics?.[Symbol.dispose]();
  }
}

function addLevels(registry: Registry, levels: () => HubLevels): void {
  const add = (name: string, help: string, read: (now: HubLevels) => number): void =>
    addGauge(registry, `remotes_hub_${name}`, help, () => read(levels()));
  add('sessions', 'Sessions.', ({ sessions }) => sessions);
  add('unauthenticated', 'Connections that have not logged in.', ({ unauthenticated }) => unauthenticated);
  add('remotes', 'Connected remotes.', ({ remotes }) => remotes);
  add(
    'providers',
    'Who serves: sessions, host remotes, lost sessions awaited.',
    ({ providers }) => providers,
  );
  add('calls_pending', 'Calls forwarded and not answered.', ({ pendingCalls }) => pendingCalls);
  add('runs', 'Runs under way.', ({ runs }) => runs);
  addCounter(
    registry,
    'remotes_hub_ignored_messages_total',
    'Messages dropped without an answer, such as late results.',
    () => levels().ignoredMessages,
  );
}

function addTraffic(registry: Registry, { traffic }: HubMetrics): void {
  const add = (name: string, help: string, read: () => number): void =>
    addCounter(registry, `remotes_hub_${name}_total`, help, read);
  add('received_messages', 'Messages received.', () => traffic.receivedMessages);
  add('received_bytes', 'Bytes of the messages received.', () => traffic.receivedBytes);
  add('sent_messages', 'Messages sent.', () => traffic.sentMessages);
  add('sent_bytes', 'Bytes of the messages sent.', () => traffic.sentBytes);
  add(
    'slow_consumers_closed',
    'Connections closed because their peers read too slowly.',
    () => traffic.slowConsumers,
  );
}

function addOutcomes(registry: Registry, { calls, runs, logins }: HubMetrics): void {
  const named = (name: string, help: string, label: string) => ({
    name: `remotes_hub_${name}_total`,
    help,
    label,
  });
  addCounters(registry, named('calls', 'Calls by how they ended.', 'outcome'), calls.outcomes);
  addCounters(registry, named('runs', 'Runs that have ended.', 'status'), runs.statuses);
  addCounters(registry, named('model_steps', 'Steps of models.', 'outcome'), runs.modelSteps);
  addCounters(registry, named('tokens', 'Tokens of models, as providers count.', 'kind'), runs.tokens);
  addCounters(registry, named('logins', 'Attempts to log in.', 'outcome'), logins);
}

/** Written here: a histogram of `prom-client` takes single observations, and these are buckets already. */
function renderDurations(calls: CallCounts): string {
  const name = 'remotes_hub_call_duration_seconds';
  const { atMost, count, sumMs } = calls.durations();
  const buckets = atMost.map((inTime, index) => {
    const bound = (DURATION_BOUNDS_MS[index] ?? 0) / 1_000;
    return `${name}_bucket{le="${bound}"} ${inTime}`;
  });
  return [
    `# HELP ${name} Calls that were forwarded, from there to their end.`,
    `# TYPE ${name} histogram`,
    ...buckets,
    `${name}_bucket{le="+Inf"} ${count}`,
    `${name}_sum ${sumMs / 1_000}`,
    `${name}_count ${count}`,
    '',
  ].join('\n');
}
