import type { JsonText } from '../json/json-text.js';

/** One invocation of a function of a remote, whoever asks: a session, a run, the host program. */
export interface CallRequest {
  readonly userId: string;
  readonly remotename: string;
  readonly functionName: string;
  /** JSON text of the arguments, an object; forwarded as it is. */
  readonly args: JsonText;
  /** The same, parsed, when the caller has it already. */
  readonly parsedArgs?: unknown;
  /** Deadline asked for, in milliseconds; else the function spec's, else the hub's default. */
  readonly timeoutMs?: number;
  /** Told of progress; a caller without it gets none. */
  readonly onProgress?: (progress: JsonText) => void;
}

/** Why a caller ends its own call. */
export type CallerReason = 'call-cancelled' | 'caller-gone';

/** A call on its way. */
export interface StartedCall {
  /** The result's JSON text. Rejects with a `RemoteError` and with nothing else. */
  readonly result: Promise<JsonText>;
  /** Ends the call early; harmless when it has ended. */
  cancel(reason: CallerReason): void;
}
