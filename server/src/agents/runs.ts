import type { AgentId } from '@remotes-hub/protocol';
import type { AgentConfig, Limits } from '../config/config-schema.js';
import type { Logger } from '../observability/logger.js';
import type { RunCounts } from '../observability/metrics.js';
import type { Tracing } from '../observability/tracing.js';
import { RemoteError } from '../remotes/remote-error.js';
import type { AgentDirectory, ListedAgent } from './agent-directory.js';
import type { Conversations } from './conversations.js';
import type { ModelFactory } from './models/create-model.js';
import type { NativeToolSets } from './native-tool-sets.js';
import type { EventBroadcaster } from './run-events.js';
import { ENDED_RUN_TTL_MS, RunHistory, type RunReplay } from './run-history.js';
import { RunMessages } from './run-messages.js';
import { readRunOptions, type RunOptions } from './run-options.js';
import { prepareRun } from './run-preparation.js';
import type { ConnectedRemote, RemoteSource } from './run-tools.js';
import { RunWarnings } from './run-warnings.js';
import { Run } from './run.js';
import { whenThere, type Soon } from '../soon.js';
import type { CallStarter } from './tool-caller.js';

/** Least time between looks for sessions of a user on other nodes, in milliseconds. */
const MIN_LOOK_MS = 5_000;

/** How long a user with too many runs is told to wait, in milliseconds. */
const RETRY_AFTER_MS = 1_000;

/** What other nodes know of runs and users. */
export interface RunsElsewhere {
  /** Lets them know that a run is here, for so long, in milliseconds. */
  keepRun(userId: string, runId: string, ttlMs: number): void;
  /** Whether a user has sessions on other nodes. Rejects when that cannot be told. */
  isElsewhere(userId: string): Soon<boolean>;
}

/** What runs are made with. */
export interface RunsOptions {
  readonly agents: AgentDirectory;
  /** What it throws when a module cannot be loaded fails the run. */
  readonly nativeTools: Pick<NativeToolSets, 'of'>;
  /** Makes the model of a run; what it throws fails the run. */
  readonly createModel: ModelFactory;
  /** Keys of the models, by the agent's id as a string. */
  readonly modelKeys: ReadonlyMap<string, string>;
  readonly conversations: Pick<Conversations, 'history' | 'keep'>;
  readonly calls: CallStarter;
  readonly remotes: RemoteSource;
  readonly events: EventBroadcaster;
  readonly elsewhere: RunsElsewhere;
  readonly log: Logger;
  readonly counts: RunCounts;
  readonly tracing: Tracing;
  readonly limits: Pick<Limits, 'maxRunsPerUser' | 'maxRunSteps' | 'runGraceMs'>;
}

/** One prompt. */
export interface Prompt {
  readonly userId: string;
  readonly agentId: AgentId;
  readonly instruction: string;
  /** As they came from outside. */
  readonly options?: unknown;
}

/**
 * The runs under way, by user, and the events of those that ended lately. Nobody sees or ends a run of another
 * user. A run belongs to its user, not to the session that prompted it: it goes on while the user has any session,
 * and for a while after the last one has left.
 */
export class Runs implements AsyncDisposable {
  readonly #users = new Map<string, Map<string, Run>>();
  readonly #graces = new Map<string, NodeJS.Timeout>();
  readonly #ends = new Set<Promise<void>>();
  readonly #history = new RunHistory();
  #closing: Promise<void> | undefined;

  constructor(private readonly options: RunsOptions) {}

  /**
   * Starts a run; its events begin in a later turn. Remotes are resolved here and now, once.
   * @throws {RemoteError} `agent-not-found`, `rate-limited`, `shutting-down`
   */
  start(prompt: Prompt): { runId: string } {
    const { userId, agentId } = prompt;
    if (this.#closing !== undefined) throw new RemoteError('shutting-down', 'the hub is shutting down');
    const agent = this.options.agents.find(agentId);
    if (agent === undefined) throw new RemoteError('agent-not-found', `no agent with id '${agentId}'`);
    this.#requireRoom(userId);
    const run = this.#run(prompt, agent);
    this.#add(userId, run);
    this.#keep(userId, run);
    return { runId: run.runId };
  }

  /**
   * Cancels a run of this user.
   * @throws {RemoteError} `run-not-found`, also when the run has ended or is another user's
   */
  cancel(userId: string, runId: string): void {
    const run = this.#users.get(userId)?.get(runId);
    if (run === undefined) throw new RemoteError('run-not-found', `no run with id '${runId}'`);
    run.cancel();
  }

  /**
   * The events of a run so far, also for a while after its end.
   * @throws {RemoteError} `run-not-found`
   */
  replay(userId: string, runId: string): RunReplay {
    return this.#history.get(userId, runId);
  }

  /** Lets the other nodes know anew which runs are here. */
  keepAll(): void {
    for (const [userId, runs] of this.#users) for (const run of runs.values()) this.#keep(userId, run);
  }

  /**
   * A user's last session on this node has left: the runs are cancelled after the grace period, unless the user comes
   * back or has sessions on other nodes.
   */
  userLeft(userId: string, graceMs = this.options.limits.runGraceMs): void {
    if (!this.#users.has(userId) || this.#closing !== undefined) return;
    const timer = setTimeout(() => {
      this.#graces.delete(userId);
      this.#graceIsOver(userId);
    }, graceMs);
    this.#endGrace(userId);
    this.#graces.set(userId, timer);
  }

  /** A user without sessions has one again. */
  userArrived(userId: string): void {
    this.#endGrace(userId);
  }

  /** The agents that may be prompted. */
  list(): ListedAgent[] {
    return this.options.agents.list();
  }

  /** How many runs are under way; for tests and figures. */
  get size(): number {
    return this.#ends.size;
  }

  /** Cancels every run and waits until each has sent its last event. Nothing starts any more. */
  async close(): Promise<void> {
    this.#closing ??= this.#cancelAll();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #run({ userId, instruction, options }: Prompt, agent: AgentConfig): Run {
    const { limits, conversations, calls, events, log, counts, tracing } = this.options;
    const warnings = new RunWarnings();
    const bounds = {
      maxSteps: Math.min(agent.maxSteps ?? limits.maxRunSteps, limits.maxRunSteps),
      timeoutMs: agent.timeoutMs,
    };
    const chosen = readRunOptions(options, bounds, warnings);
    const { conversationId, context, system, maxSteps, timeoutMs } = chosen;
    const history = conversationId === undefined ? [] : conversations.history(userId, conversationId);
    return new Run({
      userId,
      agentId: agent.id,
      messages: new RunMessages({ instructions: agent.instructions, system, history, context, instruction }),
      limits: { maxSteps, timeoutMs, maxToolCalls: agent.maxToolCalls, maxTokens: agent.maxTokens },
      prepare: this.#preparation(userId, agent, chosen, warnings),
      warnings,
      calls,
      events,
      history: this.#history,
      log,
      counts,
      tracing,
      onSaid: (messages) => {
        if (conversationId !== undefined) conversations.keep(userId, conversationId, messages.turn());
      },
    });
  }

  /** Remotes are looked up now; what has to be waited for comes later. */
  #preparation(userId: string, agent: AgentConfig, { remotes, tools }: RunOptions, warnings: RunWarnings) {
    const { nativeTools, createModel, modelKeys } = this.options;
    const found = remotes.map(({ name }) =>
      whenThere(this.#find(userId, name, warnings), (remote) => [name, remote] as const),
    );
    return async () => {
      const byName = new Map(await Promise.all(found.map(async (entry) => entry)));
      return prepareRun({
        remotes,
        tools,
        warnings,
        nativeTools: async () => nativeTools.of(agent),
        findRemote: (name) => byName.get(name),
        createModel: () => createModel(agent.model, modelKeys.get(String(agent.id))),
      });
    };
  }

  #find(userId: string, name: string, warnings: RunWarnings): Soon<ConnectedRemote | undefined> {
    const found = this.options.remotes.find(userId, name);
    if (!(found instanceof Promise)) return found;
    return found.catch((error: unknown) => {
      const why = error instanceof RemoteError ? error.message : 'it could not be looked for';
      warnings.add(`remote '${name}': ${why}`);
      return undefined;
    });
  }

  async #cancelAll(): Promise<void> {
    for (const userId of this.#graces.keys()) this.#endGrace(userId);
    for (const userId of this.#users.keys()) this.#cancelAllOf(userId);
    await Promise.all(this.#ends);
    this.#history.clear();
  }

  #cancelAllOf(userId: string): void {
    for (const run of this.#users.get(userId)?.values() ?? []) run.cancel();
  }

  #graceIsOver(userId: string): void {
    const { runGraceMs } = this.options.limits;
    const decide = (isElsewhere: boolean): void => {
      if (!isElsewhere) this.#cancelAllOf(userId);
      else if (!this.#graces.has(userId)) this.userLeft(userId, Math.max(runGraceMs, MIN_LOOK_MS));
    };
    const isElsewhere = this.options.elsewhere.isElsewhere(userId);
    if (!(isElsewhere instanceof Promise)) return decide(isElsewhere);
    // who cannot be asked may well be there
    isElsewhere.then(decide, () => decide(true));
  }

  #keep(userId: string, { runId, timeoutMs }: Run): void {
    this.options.elsewhere.keepRun(userId, runId, timeoutMs + ENDED_RUN_TTL_MS);
  }

  #endGrace(userId: string): void {
    clearTimeout(this.#graces.get(userId));
    this.#graces.delete(userId);
  }

  #requireRoom(userId: string): void {
    const { maxRunsPerUser } = this.options.limits;
    if ((this.#users.get(userId)?.size ?? 0) < maxRunsPerUser) return;
    throw new RemoteError('rate-limited', `${maxRunsPerUser} runs are under way, the most a user may have`, {
      retryAfterMs: RETRY_AFTER_MS,
    });
  }

  #add(userId: string, run: Run): void {
    let runs = this.#users.get(userId);
    if (runs === undefined) this.#users.set(userId, (runs = new Map<string, Run>()));
    runs.set(run.runId, run);
    const end = run.start(() => this.#remove(userId, run.runId)).finally(() => this.#ends.delete(end));
    this.#ends.add(end);
  }

  #remove(userId: string, runId: string): void {
    const runs = this.#users.get(userId);
    runs?.delete(runId);
    if (runs === undefined || runs.size > 0) return;
    this.#users.delete(userId);
    this.#endGrace(userId); // nothing is left to cancel
  }
}
