import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { RunStatus } from '@remotes-hub/protocol';
import type { AgentConfig } from '../config/config-schema.js';
import type { Logger } from '../observability/logger.js';
import type { ModelFactory } from './models/create-model.js';
import {
  ModelError,
  type Model,
  type ModelMessage,
  type ModelTool,
  type ToolResult,
} from './models/model.js';
import { readModelStep, type ModelStep } from './model-step.js';
import { CallReader, type RequestedCall } from './requested-calls.js';
import { RunEvents, type EventBroadcaster, type RunEnd } from './run-events.js';
import { modelTool, runTool, type ToolSet } from './run-tools.js';
import { ToolCaller, type CallStarter } from './tool-caller.js';
import { failed, type ToolOutcome } from './tool-outcome.js';

/** Most tool calls of one step that are made; the others get an error result. */
export const MAX_CALLS_PER_STEP = 128;

/** What a run is made of. */
export interface RunParts {
  readonly userId: string;
  readonly agent: AgentConfig;
  readonly instruction: string;
  readonly tools: ToolSet;
  readonly warnings: readonly string[];
  readonly maxSteps: number;
  readonly createModel: ModelFactory;
  readonly calls: CallStarter;
  readonly events: EventBroadcaster;
  readonly log: Logger;
}

/**
 * One prompt to an agent, from start to finish. The model speaks, the tools it calls run side by side, and
 * their results go back to it in the order of the calls, until it calls none. A failed call never ends a run.
 */
export class Run {
  readonly runId = randomUUID();
  readonly #controller = new AbortController();
  readonly #log: Logger;
  readonly #events: RunEvents;
  readonly #caller: ToolCaller;
  readonly #reader = new CallReader();
  readonly #messages: ModelMessage[] = [];
  readonly #usage = { steps: 0, toolCalls: 0 };
  /** Text of the last step that said something. */
  #output = '';
  #cancelling: Promise<void> | undefined;

  constructor(private readonly parts: RunParts) {
    const { userId, agent, instruction, tools, calls, events } = parts;
    setMaxListeners(0, this.#controller.signal); // one for every call under way
    this.#log = parts.log.child({ userId, runId: this.runId, agentId: agent.id });
    this.#events = new RunEvents(events, userId, this.runId);
    this.#caller = new ToolCaller({ userId, tools, calls, log: this.#log, signal: this.#controller.signal });
    if (agent.instructions) this.#messages.push({ role: 'system', text: agent.instructions });
    this.#messages.push({ role: 'user', text: instruction });
  }

  /**
   * Runs to the end, whatever it is. The first event comes in a later turn, after the reply to the prompt.
   * @param onEnd told right after `run-finished`
   */
  async start(onEnd: () => void): Promise<void> {
    const startedAt = Date.now();
    await setImmediate();
    try {
      let end = await this.#attempt();
      if (this.#cancelling !== undefined) {
        await this.#cancelling;
        end = { status: 'cancelled' };
      }
      // nothing may be awaited from here on: a cancel that comes now must find no run
      this.#events.finished({ ...end, output: this.#output, usage: this.#usage });
      this.#log.info(
        { status: end.status, ...this.#usage, durationMs: Date.now() - startedAt },
        'run finished',
      );
    } catch (error) {
      this.#log.error({ err: error }, 'run events failed');
    } finally {
      onEnd();
    }
  }

  /**
   * Ends the run with status `cancelled`: its model request and its calls are ended in the next turn, so that
   * no event comes before the reply to whoever asked. Harmless when repeated.
   */
  cancel(): void {
    this.#cancelling ??= setImmediate().then(() => this.#controller.abort());
  }

  async #attempt(): Promise<Pick<RunEnd, 'status' | 'error'>> {
    const { agent, tools, warnings } = this.parts;
    try {
      for (const warning of warnings) this.#log.warn({ warning }, 'run warning');
      this.#events.started(agent.id, [...tools.values()].map(runTool), warnings);
      return { status: await this.#converse() };
    } catch (error) {
      if (this.#controller.signal.aborted) return { status: 'cancelled' };
      this.#log.error({ err: error }, 'run failed');
      return { status: 'failed', error: error instanceof ModelError ? error.message : 'the model failed' };
    }
  }

  async #converse(): Promise<RunStatus> {
    const { agent, createModel, maxSteps } = this.parts;
    await this.#throwIfCancelled();
    const model = createModel(agent.model);
    const tools = [...this.parts.tools.values()].map(modelTool);
    while (this.#usage.steps < maxSteps) {
      this.#usage.steps += 1;
      const { content, calls } = this.#reader.read(await this.#ask(model, tools));
      await this.#throwIfCancelled();
      if (calls.length === 0) return 'completed';
      const results = await this.#callTools(calls);
      await this.#throwIfCancelled();
      this.#messages.push({ role: 'assistant', content }, { role: 'tool', results });
    }
    return 'step-limit';
  }

  async #throwIfCancelled(): Promise<void> {
    await this.#cancelling;
    this.#controller.signal.throwIfAborted();
  }

  #ask(model: Model, tools: readonly ModelTool[]): Promise<ModelStep> {
    const { signal } = this.#controller;
    let hasSpoken = false;
    return readModelStep(model, { messages: [...this.#messages], tools, signal }, (text) => {
      this.#output = hasSpoken ? this.#output + text : text;
      hasSpoken = true;
      this.#events.text(text);
    });
  }

  /** All at once; told in the order of the calls, each as soon as those before it have been. */
  async #callTools(calls: readonly RequestedCall[]): Promise<ToolResult[]> {
    this.#usage.toolCalls += calls.length;
    for (const { callId, name, shownArgs } of calls) {
      const tool = this.parts.tools.get(name);
      this.#events.toolCall({ callId, tool: tool === undefined ? { name } : runTool(tool), args: shownArgs });
    }
    const outcomes = calls.map((call, index) => this.#callTool(call, index));
    const results: ToolResult[] = [];
    for (const [index, { callId, name }] of calls.entries()) {
      const outcome = await outcomes[index];
      if (outcome === undefined) continue; // there is one for each call
      this.#events.toolResult(callId, name, outcome);
      results.push({ callId, name, content: outcome.content, isError: outcome.isError });
    }
    return results;
  }

  async #callTool({ name, args }: RequestedCall, index: number): Promise<ToolOutcome> {
    if (index >= MAX_CALLS_PER_STEP) {
      return failed(
        'too-many-calls',
        `only ${MAX_CALLS_PER_STEP} calls of one step are made; this one was not`,
      );
    }
    return this.#caller.call(name, args);
  }
}
