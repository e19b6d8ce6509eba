import type { AgentId } from '@remotes-hub/protocol';
import type { AgentConfig, Limits } from '../config/config-schema.js';
import type { Logger } from '../observability/logger.js';
import { RemoteError } from '../remotes/remote-error.js';
import type { AgentDirectory, ListedAgent } from './agent-directory.js';
import type { Conversations } from './conversations.js';
import type { ModelFactory } from './models/create-model.js';
import type { NativeToolSets } from './native-tool-sets.js';
import type { EventBroadcaster } from './run-events.js';
import { RunHistory, type RunReplay } from './run-history.js';
import { RunMessages } from './run-messages.js';
import { readRunOptions, type RunOptions } from './run-options.js';
import { prepareRun } from './run-preparation.js';
import type { ConnectedRemote, RemoteSource } from './run-tools.js';
import { RunWarnings } from './run-warnings.js';
import { Run } from './run.js';
import type { CallStarter } from './tool-caller.js';

/** How long a user with too many runs is told to wait, in milliseconds. */
const RETRY_AFTER_MS = 1_000;

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
  readonly log: Logger;
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

  /** A user's last session has left: the runs are cancelled after the grace period, unless the user comes back. */
  userLeft(userId: string): void {
    if (!this.#users.has(userId) || this.#closing !== undefined) return;
    const timer = setTimeout(() => {
      this.#graces.delete(userId);
      this.#cancelAllOf(userId);
    }, this.options.limits.runGraceMs);
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
    const { limits, conversations, calls, events, log } = this.options;
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
      onSaid: (messages) => {
        if (conversationId !== undefined) conversations.keep(userId, conversationId, messages.turn());
      },
    });
  }

  /** Remotes are looked up now; what has to be waited for comes later. */
  #preparation(userId: string, agent: AgentConfig, { remotes, tools }: RunOptions, warnings: RunWarnings) {
    const { nativeTools, createModel, modelKeys } = this.options;
    const found = new Map<string, ConnectedRemote | undefined>();
    for (const { name } of remotes) found.set(name, this.options.remotes.find(userId, name));
    return async () =>
      prepareRun({
        remotes,
        tools,
        warnings,
        nativeTools: async () => nativeTools.of(agent),
        findRemote: (name) => found.get(name),
        createModel: () => createModel(agent.model, modelKeys.get(String(agent.id))),
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
