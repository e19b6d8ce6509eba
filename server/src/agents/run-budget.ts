import type { RunUsage } from '@remotes-hub/protocol';
import type { ModelUsage } from './models/model.js';
import { MAX_REPETITION_NOTES, MAX_SAME_STEPS, Repetition } from './repetition.js';
import type { RequestedCall } from './requested-calls.js';
import { RunStop } from './run-stop.js';
import { failed, type ToolOutcome } from './tool-outcome.js';

/** Most tool calls of one step that are made; the others get an error result. */
export const MAX_CALLS_PER_STEP = 128;

/** What one run may use. */
export interface RunLimits {
  /** Model steps. */
  readonly maxSteps: number;
  /** Tool calls. */
  readonly maxToolCalls: number;
  /** Tokens, input and output together, as far as the provider counts them. */
  readonly maxTokens: number | undefined;
  /** Milliseconds from the prompt to the end. */
  readonly timeoutMs: number;
}

/** Which calls of a step are made, and whether the run ends after it. */
export interface Admission {
  /** The result of a call that is not made; `undefined` for one that is. */
  refusal(index: number): ToolOutcome | undefined;
  readonly stop: RunStop | undefined;
}

/** What a run has used of its limits. All but its time, which a timer watches. */
export class RunBudget {
  readonly #repetition = new Repetition();
  #steps = 0;
  #toolCalls = 0;
  #tokens: ModelUsage | undefined;

  constructor(private readonly limits: RunLimits) {}

  /** What `run-finished` tells. */
  get usage(): RunUsage {
    return { steps: this.#steps, toolCalls: this.#toolCalls, ...this.#tokens };
  }

  /** @throws {RunStop} `step-limit` */
  beginStep(): void {
    const { maxSteps } = this.limits;
    if (this.#steps >= maxSteps) throw new RunStop('step-limit', `the run has taken its ${maxSteps} steps`);
    this.#steps += 1;
  }

  /** Counts the tokens of a step; nothing when the provider did not. */
  addTokens(usage: ModelUsage | undefined): void {
    if (usage === undefined) return;
    const { inputTokens = 0, outputTokens = 0 } = this.#tokens ?? {};
    this.#tokens = {
      inputTokens: inputTokens + usage.inputTokens,
      outputTokens: outputTokens + usage.outputTokens,
    };
  }

  /**
   * Decides about the calls of one step. Those that are not made still get a result, and a step that goes beyond a
   * limit is the last of its run.
   */
  admit(calls: readonly RequestedCall[]): Admission {
    const before = this.#toolCalls;
    this.#toolCalls += calls.length;
    return this.#outOfTokens() ?? this.#repeated(calls) ?? this.#within(calls.length, before);
  }

  #outOfTokens(): Admission | undefined {
    const { maxTokens } = this.limits;
    const { inputTokens = 0, outputTokens = 0 } = this.#tokens ?? {};
    if (maxTokens === undefined || inputTokens + outputTokens < maxTokens) return undefined;
    const stop = new RunStop('token-limit', `the run has used its ${maxTokens} tokens`);
    return { refusal: () => notMade(stop.message), stop };
  }

  #repeated(calls: readonly RequestedCall[]): Admission | undefined {
    const times = this.#repetition.count(calls);
    if (times <= MAX_SAME_STEPS) return undefined;
    const isLast = times > MAX_SAME_STEPS + MAX_REPETITION_NOTES;
    return {
      refusal: (index) => {
        const name = calls[index]?.name ?? '';
        return notMade(
          `'${name}' has been called with these arguments ${MAX_SAME_STEPS} times already and would say the same; ` +
            'go on with what it said, or do something else',
        );
      },
      stop: isLast
        ? new RunStop('repeated-calls', 'the model repeated the same calls over and over')
        : undefined,
    };
  }

  #within(count: number, before: number): Admission {
    const { maxToolCalls } = this.limits;
    const left = maxToolCalls - before;
    const stop =
      count > left ? new RunStop('tool-limit', `the run has made its ${maxToolCalls} tool calls`) : undefined;
    return {
      refusal: (index) => {
        if (index >= left) return notMade(stop?.message ?? '');
        if (index < MAX_CALLS_PER_STEP) return undefined;
        return failed(
          'too-many-calls',
          `only ${MAX_CALLS_PER_STEP} calls of one step are made; this one was not`,
        );
      },
      stop,
    };
  }
}

function notMade(reason: string): ToolOutcome {
  return failed('too-many-calls', `${reason} (the function did not run)`);
}
