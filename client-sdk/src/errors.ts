import type { ErrorCode, Executed, JsonObject } from '@remotes-hub/protocol';
import { closeCodes } from '@remotes-hub/protocol/close-codes';
import { executedValues } from '@remotes-hub/protocol/error-codes';
import { asNumber, asString } from './json-values.js';

/** How a connection ended: the close code of WebSocket (1006 when there was no close) and a reason, maybe empty. */
export interface Close {
  readonly code: number;
  readonly reason: string;
}

/** A code of the wire's list, or one that a newer hub has added to it. */
export type FailureCode = ErrorCode | (string & Record<never, never>);

/** Why a request gave nothing, before it becomes one of the errors below. */
export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
  readonly executed?: Executed | undefined;
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly close?: Close | undefined;
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/**
 * `connect`, or a request other than a call, failed. `code` is for programs, `message` for people.
 * @see README.md, "Errors"
 */
export class HubError extends Error {
  override readonly name = 'HubError';
  readonly code: FailureCode;
  /** The close code when the connection ended (1006: without a close), else `undefined`. */
  readonly closeCode: number | undefined;
  /** The reason that the hub gave: of its close, or of its refusal. */
  readonly reason: string;
  /** With `rate-limited`, how long to wait, in milliseconds, when the hub says it. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: Failure) {
    const { code, message, close, retryAfterMs } = failure;
    super(message, failure); // which has the cause, if there is one
    this.code = code;
    this.closeCode = close?.code;
    this.reason = close === undefined ? message : close.reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * A call to a function of a remote gave no result.
 * @see README.md, "Errors"
 */
export class RemoteError extends Error {
  override readonly name = 'RemoteError';
  readonly code: FailureCode;
  /** Whether the function ran; `unknown` when nobody can tell. */
  readonly executed: Executed;
  /** Sending the same call again may succeed, and cannot run the function twice. */
  readonly retryable: boolean;
  readonly remotename: string;
  readonly function: string;
  /** The hub's id of the call, as its logs and the serving session know it; `undefined` when it was not forwarded. */
  readonly requestId: string | undefined;
  /** With `rate-limited`, how long to wait, in milliseconds, when the hub says it. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: Failure, remotename: string, functionName: string) {
    super(failure.message, failure);
    this.code = failure.code;
    this.executed = failure.executed ?? 'unknown';
    this.retryable = failure.retryable ?? false;
    this.retryAfterMs = failure.retryAfterMs;
    this.remotename = remotename;
    this.function = functionName;
    this.requestId = failure.requestId;
  }
}

/** What an error reply says; `undefined` when the reply is none. */
export function readFailure(reply: JsonObject): Failure | undefined {
  const message = asString(reply['error']);
  if (message === undefined) return undefined;
  return {
    message,
    code: asString(reply['code']) ?? 'internal-error',
    executed: executedValues.find((value) => value === reply['executed']),
    retryable: reply['retryable'] === true,
    requestId: asString(reply['requestId']),
    retryAfterMs: asNumber(reply['retryAfterMs']),
  };
}

/** The failure of everything in flight when a connection ends. */
export function lostConnection(close: Close): Failure {
  const reason = close.reason === '' ? '' : `: ${close.reason}`;
  return {
    code: 'connection-lost',
    message: `the connection to the hub has ended (${close.code}${reason})`,
    close,
  };
}

/** The failure of a request that was not sent, because there is no connection; `ending` when there will be none. */
export function closedConnection(ending: Close | undefined): Failure {
  const failure: Failure =
    ending === undefined
      ? { code: 'connection-lost', message: 'there is no connection to the hub' }
      : lostConnection(ending);
  return { ...failure, executed: 'no' };
}

/** The failure of a `connect` whose connection ended: says by its code what the close code means. */
export function refusedConnection(close: Close): Failure {
  return { ...lostConnection(close), code: meaningOf.get(close.code) ?? 'connection-lost' };
}

const meaningOf: ReadonlyMap<number, ErrorCode> = new Map([
  [closeCodes.notAuthenticated, 'not-authenticated'],
  [closeCodes.goingAway, 'shutting-down'],
  [closeCodes.tooManyMessages, 'rate-limited'],
  [closeCodes.messageTooBig, 'message-too-large'],
]);

/** Why a connection could not be opened. What a token function throws is a failure like any other. */
export function openingFailure(error: unknown): HubError {
  if (error instanceof HubError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new HubError({ code: 'connection-lost', message: `there is no token: ${message}`, cause: error });
}
