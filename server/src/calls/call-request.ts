import type { JsonText } from '../json/json-text.js';
import type { ValueReader } from '../json/value-reader.js';
import type { TraceFields } from '../observability/trace-context.js';
import type { TraceSpan } from '../observability/tracing.js';

export type { CallListener } from '../remotes/call-end.js';
export type { CallerReason, StartedCall, TrackedCall } from '../remotes/pending-calls.js';

/** One invocation of a function of a remote, whoever asks: a session, a run, the host program. */
export interface CallRequest extends TraceFields {
  readonly userId: string;
  readonly remotename: string;
  readonly functionName: string;
  /** JSON text of the arguments, an object; forwarded as it is. */
  readonly args: JsonText;
  /** The same, parsed, when the caller has it already. */
  readonly parsedArgs?: unknown;
  /** What has read the arguments, and found them as they should be. */
  readonly argsReadBy?: ValueReader | undefined;
  /** Deadline asked for, in milliseconds; else the function spec's, else the hub's default. */
  readonly timeoutMs?: number;
  /** Told of progress; a caller without it gets none. */
  readonly onProgress?: (progress: JsonText) => void;
  /** The span of a caller in this process, in place of the trace fields. */
  readonly parent?: TraceSpan | undefined;
}
