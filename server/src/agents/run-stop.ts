import type { RunFailureCode, RunStatus } from '@remotes-hub/protocol';

/** Why a run ends before its model has given an answer. The message is for people and for the model. */
export class RunStop extends Error {
  override readonly name = 'RunStop';

  constructor(
    readonly code: RunFailureCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** How the run ends then. */
  get status(): RunStatus {
    if (this.code === 'cancelled' || this.code === 'step-limit') return this.code;
    return 'failed';
  }
}
