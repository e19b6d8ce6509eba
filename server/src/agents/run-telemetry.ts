import type { AgentId, RunFailureCode, RunStatus } from '@remotes-hub/protocol';
import type { RunCounts } from '../observability/metrics.js';
import type { TraceSpan, Tracing } from '../observability/tracing.js';
import type { ModelStep } from './model-step.js';

/** What operators learn of one run: counts, and a span for it and for each of its steps where somebody traces. */
export class RunTelemetry {
  readonly #span: TraceSpan | undefined;

  constructor(
    private readonly counts: RunCounts,
    readonly tracing: Tracing,
    { runId, agentId }: { readonly runId: string; readonly agentId: AgentId },
  ) {
    this.#span = tracing.start('remotes_hub.run', {
      'remotes_hub.run_id': runId,
      'remotes_hub.agent_id': String(agentId),
    });
  }

  /** A step begins: the model is asked, and the tools run that it calls. */
  startStep(): StepTelemetry {
    return new StepTelemetry(this.counts, this.tracing.start('remotes_hub.model_step', {}, this.#span));
  }

  /** The run has ended. */
  finished(status: RunStatus, code: RunFailureCode | undefined): void {
    this.counts.statuses.add(status);
    this.#span?.set({ 'remotes_hub.status': status });
    this.#span?.close(code);
  }
}

/** One step of a model, with the calls that it asks for. */
export class StepTelemetry {
  constructor(
    private readonly counts: RunCounts,
    /** What the calls of the step belong to, where somebody traces. */
    readonly span: TraceSpan | undefined,
  ) {}

  /** The model has said all. */
  answered({ reason, usage }: ModelStep): void {
    const { inputTokens, outputTokens } = usage ?? { inputTokens: 0, outputTokens: 0 };
    this.counts.modelSteps.add(reason);
    this.counts.tokens.add('input', inputTokens);
    this.counts.tokens.add('output', outputTokens);
    this.span?.mark('answered');
    this.span?.set({
      'remotes_hub.finish_reason': reason,
      ...(usage && { 'gen_ai.usage.input_tokens': inputTokens, 'gen_ai.usage.output_tokens': outputTokens }),
    });
  }

  /** The model gave no answer. */
  failed(outcome: 'failed' | 'cancelled'): void {
    this.counts.modelSteps.add(outcome);
    this.span?.close(outcome);
  }

  /** All that the step asked for has been done. */
  end(): void {
    this.span?.close();
  }

  /** Runs the request of the model, for what instruments itself. */
  run<Result>(request: () => Result): Result {
    return this.span === undefined ? request() : this.span.run(request);
  }
}
