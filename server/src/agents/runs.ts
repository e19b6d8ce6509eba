import type { AgentId } from '@remotes-hub/protocol';
import type { Limits } from '../config/config-schema.js';
import type { Logger } from '../observability/logger.js';
import { RemoteError } from '../remotes/remote-error.js';
import type { AgentDirectory, ListedAgent } from './agent-directory.js';
import type { ModelFactory } from './models/create-model.js';
import type { NativeTool } from './native-tool.js';
import type { EventBroadcaster } from './run-events.js';
import { readRunOptions } from './run-options.js';
import { selectTools, type RemoteSource } from './run-tools.js';
import { RunWarnings } from './run-warnings.js';
import { Run } from './run.js';
import type { CallStarter } from './tool-caller.js';

/** How long a user with too many runs is told to wait, in milliseconds. */
const RETRY_AFTER_MS = 1_000;

/** What runs are made with. */
export interface RunsOptions {
  readonly agents: AgentDirectory;
  /** Every native tool of the hub, by name. */
  readonly nativeTools: ReadonlyMap<string, NativeTool>;
  /** Makes the model of a run; what it throws fails the run. */
  readonly createModel: ModelFactory;
  readonly calls: CallStarter;
  readonly remotes: RemoteSource;
  readonly events: EventBroadcaster;
  readonly log: Logger;
  readonly limits: Pick<Limits, 'maxRunsPerUser' | 'maxRunSteps'>;
}

/** One prompt. */
export interface Prompt {
  readonly userId: string;
  readonly agentId: AgentId;
  readonly instruction: string;
  /** As they came from outside. */
  readonly options?: unknown;
}

/** The runs under way, by user. Nobody sees or ends a run of another user. */
export class Runs implements AsyncDisposable {
  readonly #users = new Map<string, Map<string, Run>>();
  readonly #ends = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;

  constructor(private readonly options: RunsOptions) {}

  /**
   * Starts a run; its events begin in a later turn. Remotes are resolved here and now, once.
   * @throws {RemoteError} `agent-not-found`, `rate-limited`, `shutting-down`
   */
  start({ userId, agentId, instruction, options }: Prompt): { runId: string } {
    if (this.#closing !== undefined) throw new RemoteError('shutting-down', 'the hub is shutting down');
    const agent = this.options.agents.find(agentId);
    if (agent === undefined) throw new RemoteError('agent-not-found', `no agent with id '${agentId}'`);
    this.#requireRoom(userId);
    const { nativeTools, remotes, limits, createModel, calls, events, log } = this.options;
    const warnings = new RunWarnings();
    const { maxSteps, ...selection } = readRunOptions(options, limits.maxRunSteps, warnings);
    const findRemote = (remotename: string) => remotes.find(userId, remotename);
    const tools = selectTools({ ...selection, agentTools: agent.tools, nativeTools, findRemote }, warnings);
    const shared = { createModel, calls, events, log };
    const run = new Run({
      ...shared,
      userId,
      agent,
      instruction,
      tools,
      warnings: warnings.list(),
      maxSteps,
    });
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

  /** Cancels every run of a user, whose last session has left. */
  cancelUser(userId: string): void {
    for (const run of this.#users.get(userId)?.values() ?? []) run.cancel();
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

  async #cancelAll(): Promise<void> {
    for (const userId of this.#users.keys()) this.cancelUser(userId);
    await Promise.all(this.#ends);
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
    if (runs?.size === 0) this.#users.delete(userId);
  }
}
