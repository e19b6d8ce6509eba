import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { AgentId } from '@remotes-hub/protocol';
import type { Logger } from '../observability/logger.js';
import type { RunCounts } from '../observability/metrics.js';
import type { TraceSpan, Tracing } from '../observability/tracing.js';
import { readModelStep, type ModelStep } from './model-step.js';
import {
  ModelError,
  type FinishReason,
  type Model,
  type ModelTool,
  type ToolResult,
} from './models/model.js';
import { CallReader, type RequestedCall } from './requested-calls.js';
import { RunBudget, type Admission, type RunLimits } from './run-budget.js';
import { RunEvents, type EventBroadcaster, type RunEnd } from './run-events.js';
import type { RunHistory } from './run-history.js';
import type { RunMessages } from './run-messages.js';
import type { PreparedRun } from './run-preparation.js';
import { RunStop } from './run-stop.js';
import { RunTelemetry, type StepTelemetry } from './run-telemetry.js';
import { runTool, type ToolSet } from './run-tools.js';
import type { RunWarnings } from './run-warnings.js';
import { ToolCaller, type CallStarter } from './tool-caller.js';
import { untilAborted } from './until-aborted.js';

/** What a run is made of. */
export interface RunParts {
  readonly userId: string;
  readonly agentId: AgentId;
  readonly messages: RunMessages;
  readonly limits: RunLimits;
  /** Makes the model and loads the tools; adds to the warnings. */
  readonly prepare: () => Promise<PreparedRun>;
  readonly warnings: RunWarnings;
  readonly calls: CallStarter;
  readonly events: EventBroadcaster;
  readonly history: RunHistory;
  readonly log: Logger;
  readonly counts: RunCounts;
  readonly tracing: Tracing;
  /** Told right before `run-finished`: what was said may be kept. */
  readonly onSaid: (messages: RunMessages) => void;
}

/** What the calls of one step are made with. */
interface ToolCalls {
  readonly caller: ToolCaller;
  readonly tools: ToolSet;
  readonly admission: Admission;
  readonly span: TraceSpan | undefined;
}

/** How a run ended, beside what it said and used. */
type Ending = Pick<RunEnd, 'status' | 'finishReason' | 'code' | 'error'>;

/**
 * One prompt to an agent, from start to finish. The model speaks, the tools it calls run side by side, and
 * their results go back to it in the order of the calls, until it calls none or a limit is reached. A failed call
 * never ends a run, and every call has exactly one result, however the run ends.
 */
export class Run {
  readonly runId = randomUUID();
  readonly #controller = new AbortController();
  readonly #log: Logger;
  readonly #events: RunEvents;
  readonly #telemetry: RunTelemetry;
  readonly #endRecord: () => void;
  readonly #reader = new CallReader();
  readonly #budget: RunBudget;
  /** Text of the last step that said something. */
  #output = '';
  #cancelling: Promise<void> | undefined;

  constructor(private readonly parts: RunParts) {
    const { userId, agentId, history, events, counts, tracing } = parts;
    setMaxListeners(0, this.#controller.signal); // one for every call under way
    this.#log = parts.log.child({ userId, runId: this.runId, agentId });
    this.#telemetry = new RunTelemetry(counts, tracing, { runId: this.runId, agentId });
    const record = history.begin(userId, this.runId);
    this.#endRecord = () => history.end(record);
    this.#events = new RunEvents(events, record);
    this.#budget = new RunBudget(parts.limits);
  }

  /** The longest that it takes, in milliseconds. */
  get timeoutMs(): number {
    return this.parts.limits.timeoutMs;
  }

  /**
   * Runs to the end, whatever it is. The first event comes in a later turn, after the reply to the prompt.
   * @param onEnd told right after `run-finished`
   */
  async start(onEnd: () => void): Promise<void> {
    const startedAt = Date.now();
    const { timeoutMs } = this.parts.limits;
    const timer = setTimeout(
      () => this.#stop('time-limit', `the run took longer than ${timeoutMs} ms`),
      timeoutMs,
    );
    await setImmediate();
    try {
      let end = await this.#attempt();
      clearTimeout(timer);
      if (this.#cancelling !== undefined) {
        await this.#cancelling;
        end = { status: 'cancelled', code: 'cancelled' };
      }
      // nothing may be awaited from here on: a cancel that comes now must find no run
      this.#finish(end, startedAt);
    } catch (error) {
      this.#log.error({ err: error }, 'run events failed');
    } finally {
      clearTimeout(timer);
      this.#endRecord();
      onEnd();
    }
  }

  /**
   * Ends the run with status `cancelled`: its model request and its calls are ended in the next turn, so that
   * no event comes before the reply to whoever asked. Harmless when repeated.
   */
  cancel(): void {
    this.#cancelling ??= setImmediate().then(() => this.#stop('cancelled', 'the run was cancelled'));
  }

  #stop(...why: ConstructorParameters<typeof RunStop>): void {
    this.#controller.abort(new RunStop(...why));
  }

  #finish(end: Ending, startedAt: number): void {
    const { usage } = this.#budget;
    const { status, code } = end;
    this.#telemetry.finished(status, code);
    // a provider that refused to go on refuses every conversation that holds the same again
    if (end.finishReason !== 'content-filter') this.parts.onSaid(this.parts.messages);
    this.#events.finished({ ...end, output: this.#output, usage });
    this.#log.info({ status, code, ...usage, durationMs: Date.now() - startedAt }, 'run finished');
  }

  async #attempt(): Promise<Ending> {
    try {
      const prepared = await this.#prepare();
      const reason = await this.#converse(prepared);
      const isWhole = reason !== 'length' && reason !== 'content-filter';
      return isWhole ? { status: 'completed' } : { status: 'completed', finishReason: reason };
    } catch (error) {
      const { status, code, message } = this.#reasonOf(error);
      return status === 'failed' ? { status, code, error: message } : { status, code };
    }
  }

  /** `run-started` comes also when there is no model to start with. */
  async #prepare(): Promise<PreparedRun> {
    const preparing = untilAborted(this.parts.prepare(), this.#controller.signal);
    const tools = await preparing.then(
      (prepared) => prepared.tools,
      () => new Map(),
    );
    this.#tellStart(tools);
    return preparing;
  }

  #tellStart(tools: ToolSet): void {
    const warnings = this.parts.warnings.list();
    for (const warning of warnings) this.#log.warn({ warning }, 'run warning');
    this.#events.started(this.parts.agentId, [...tools.values()].map(runTool), warnings);
  }

  /** @returns why the model stopped, in the end */
  async #converse({ model, tools, offered }: PreparedRun): Promise<FinishReason> {
    const { messages, userId, calls: starter } = this.parts;
    const { signal } = this.#controller;
    const { tracing } = this.#telemetry;
    const caller = new ToolCaller({ userId, tools, calls: starter, log: this.#log, tracing, signal });
    for (;;) {
      await this.#throwIfStopped();
      this.#budget.beginStep();
      const telemetry = this.#telemetry.startStep();
      const step = await this.#ask(model, offered, telemetry);
      this.#budget.addTokens(step.usage);
      try {
        await this.#throwIfStopped();
        const { content, calls } = this.#reader.read(step);
        if (calls.length === 0) {
          messages.said(content);
          return step.reason;
        }
        const admission = this.#budget.admit(calls);
        const { span } = telemetry;
        messages.called(content, await this.#callTools(calls, { caller, tools, admission, span }));
        await this.#throwIfStopped();
        if (admission.stop !== undefined) throw admission.stop;
      } finally {
        telemetry.end();
      }
    }
  }

  async #throwIfStopped(): Promise<void> {
    await this.#cancelling;
    this.#controller.signal.throwIfAborted();
  }

  async #ask(model: Model, tools: readonly ModelTool[], telemetry: StepTelemetry): Promise<ModelStep> {
    const { signal } = this.#controller;
    const { messages } = this.parts;
    let said = '';
    try {
      const request = { messages: messages.all(), tools, signal };
      const step = await telemetry.run(async () =>
        readModelStep(model, request, (text) => {
          said += text;
          this.#output = said;
          this.#events.text(text);
        }),
      );
      telemetry.answered(step);
      return step;
    } catch (error) {
      telemetry.failed(signal.aborted ? 'cancelled' : 'failed');
      if (said !== '') messages.said([{ type: 'text', text: said }]); // what the user has read was said
      throw error;
    }
  }

  /** All at once; told in the order of the calls, each as soon as those before it have been. */
  async #callTools(
    calls: readonly RequestedCall[],
    { caller, tools, admission, span }: ToolCalls,
  ): Promise<ToolResult[]> {
    for (const { callId, name, shownArgs } of calls) {
      const tool = tools.get(name);
      this.#events.toolCall({ callId, tool: tool === undefined ? { name } : runTool(tool), args: shownArgs });
    }
    const outcomes = calls.map(
      async ({ name, args }, index) => admission.refusal(index) ?? caller.call(name, args, span),
    );
    const results: ToolResult[] = [];
    for (const [index, { callId, name }] of calls.entries()) {
      const outcome = await outcomes[index];
      if (outcome === undefined) continue; // there is one for each call
      this.#events.toolResult(callId, name, outcome);
      results.push({ callId, name, content: outcome.content, isError: outcome.isError });
    }
    return results;
  }

  /** Why the run ends. Details of a fault reach the log alone. */
  #reasonOf(error: unknown): RunStop {
    const { signal } = this.#controller;
    const reason: unknown = signal.aborted ? signal.reason : error;
    if (reason instanceof RunStop) {
      if (reason.cause !== undefined) this.#log.error({ err: reason.cause }, 'run failed');
      return reason;
    }
    this.#log.error({ err: error }, 'run failed');
    return new RunStop('model-failed', error instanceof ModelError ? error.message : 'the model failed');
  }
}
