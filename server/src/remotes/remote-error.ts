import type { ErrorCode, Executed } from '@remotes-hub/protocol';

/** Facts about a failure beside its code. */
export interface RemoteErrorOptions extends ErrorOptions {
  /** Whether the function ran. @default what the code implies, see {@link RemoteError.executed} */
  readonly executed?: Executed;
  /** How long to wait before trying again, in milliseconds; only with `rate-limited`. */
  readonly retryAfterMs?: number;
}

/** Codes of calls that were forwarded and not answered: nobody knows whether the function ran. */
const unknownOutcome: ReadonlySet<ErrorCode> = new Set([
  'call-timeout',
  'call-cancelled',
  'remote-disconnected',
  'connection-lost',
  'internal-error',
]);

/** Codes of calls whose function gave an answer. */
const ranToTheEnd: ReadonlySet<ErrorCode> = new Set(['function-failed', 'invalid-result']);

/** Codes of passing conditions: the same call may succeed later. */
const passing: ReadonlySet<ErrorCode> = new Set([
  'remote-not-connected',
  'remote-disconnected',
  'too-many-calls',
  'rate-limited',
  'shutting-down',
  'backplane-unavailable',
]);

/**
 * Any failure to serve or call a remote: an error reply to a session, an error tool-result to a model. It ends
 * neither session nor run. The caller reads the message, so it holds no secret.
 */
export class RemoteError extends Error {
  override readonly name = 'RemoteError';
  /** Whether the function ran. */
  readonly executed: Executed;
  /** Sending the same call again may succeed and cannot run the function twice. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** Set when the call had been forwarded: the id that its provider knows it by. */
  requestId: string | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: RemoteErrorOptions = {},
  ) {
    super(message, options);
    this.executed = options.executed ?? executedByCode(code);
    this.retryable = this.executed === 'no' && passing.has(code);
    this.retryAfterMs = options.retryAfterMs;
  }
}

function executedByCode(code: ErrorCode): Executed {
  if (unknownOutcome.has(code)) return 'unknown';
  return ranToTheEnd.has(code) ? 'yes' : 'no';
}
