import type { CancelReason } from '@remotes-hub/protocol';
import type { JsonText } from '../json/json-text.js';
import type { TraceFields } from '../observability/trace-context.js';
import type { PendingCall, PendingCalls } from './pending-calls.js';

/** A call as its provider sees it. */
export interface ForwardedCall {
  readonly pending: PendingCall;
  readonly functionName: string;
  readonly args: JsonText;
  readonly timeoutMs: number;
  readonly trace: TraceFields;
}

/** What answers the calls of a remote: a session, or the host program. */
export interface Provider {
  /** Calls of all its remotes that it has not answered. */
  readonly pending: PendingCalls;
  /** A new id for a call of one of its remotes. */
  nextRequestId(remotename: string): string;
  /** Hands the call over; the answer comes through `call.pending`. A throw fails the call at once. */
  forward(call: ForwardedCall): void;
  /** Nobody waits for this call any more. */
  withdraw(pending: PendingCall, reason: CancelReason): void;
  /** Whether it still lives, asked when another wants one of its names; `true` when that is certain. */
  probe(): true | Promise<boolean>;
  /** None of its remotes is left, not even one whose calls are still in flight. */
  forgotten?(): void;
}
