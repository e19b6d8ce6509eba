/**
 * Why a request failed: the closed list of `code` values in error replies. Codes are a contract, listed in
 * README.md, "Error codes"; texts may be reworded, except those of the seed.
 */
export const errorCodes = [
  'not-authenticated',
  'invalid-credentials',
  'malformed-message',
  'unknown-action',
  'invalid-body',
  'remote-not-connected',
  'remote-already-connected',
  'remote-disconnected',
  'function-not-found',
  'invalid-schema',
  'invalid-arguments',
  'invalid-result',
  'call-timeout',
  'call-cancelled',
  'function-failed',
  'connection-lost',
  'message-too-large',
  'too-many-calls',
  'too-many-remotes',
  'rate-limited',
  'shutting-down',
  'backplane-unavailable',
  'agent-not-found',
  'run-not-found',
  'internal-error',
] as const;

/** One of {@link errorCodes}. */
export type ErrorCode = (typeof errorCodes)[number];

/** Whether the function of a failed call ran: `unknown` when it was forwarded and never answered. */
export const executedValues = ['no', 'yes', 'unknown'] as const;

/** One of {@link executedValues}. */
export type Executed = (typeof executedValues)[number];

/** How a run ends. */
export const runStatuses = ['completed', 'failed', 'cancelled', 'step-limit'] as const;

/** One of {@link runStatuses}. */
export type RunStatus = (typeof runStatuses)[number];

/**
 * Why a run has not completed: the closed list of `code` values in `run-finished`, listed in README.md, "Life of
 * a run".
 */
export const runFailureCodes = [
  'model-failed',
  'tools-failed',
  'step-limit',
  'tool-limit',
  'token-limit',
  'time-limit',
  'repeated-calls',
  'cancelled',
] as const;

/** One of {@link runFailureCodes}. */
export type RunFailureCode = (typeof runFailureCodes)[number];

/** Why a completed answer stops before its end: `finishReason` in `run-finished`. */
export const runFinishReasons = ['length', 'content-filter'] as const;

/** One of {@link runFinishReasons}. */
export type RunFinishReason = (typeof runFinishReasons)[number];
