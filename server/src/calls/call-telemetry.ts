import type { JsonText } from '../json/json-text.js';
import type { Logger } from '../observability/logger.js';
import type { CallCounts } from '../observability/metrics.js';
import type { TraceSpan, Tracing } from '../observability/tracing.js';
import type { CallObserver, EndedCall } from '../remotes/pending-calls.js';
import { RemoteError } from '../remotes/remote-error.js';
import type { CallRequest } from './call-request.js';

/** Which function of whose remote a call is for. */
type CallNames = Pick<CallRequest, 'userId' | 'remotename' | 'functionName'>;

/**
 * What operators learn of calls: counts, a span each where somebody traces, and at the level `debug` a line each.
 * A call that nobody watches costs some additions here, and nothing is made for it.
 */
export class CallTelemetry implements CallObserver {
  constructor(
    private readonly counts: CallCounts,
    private readonly tracing: Tracing,
    private readonly log: Logger,
  ) {}

  /** A call begins; gives its span, where somebody traces. */
  started(request: CallRequest): TraceSpan | undefined {
    return this.tracing.startCall(request);
  }

  /** A call was refused before it was forwarded. */
  refused({ userId, remotename, functionName }: CallNames, error: RemoteError, span?: TraceSpan): void {
    this.counts.refused(error.code);
    span?.end(error);
    if (this.log.isLevelEnabled('debug')) {
      this.log.debug({ userId, remotename, function: functionName, outcome: error.code }, 'call refused');
    }
  }

  /** A call has ended. */
  callEnded(call: EndedCall, outcome: JsonText | RemoteError): void {
    const error = outcome instanceof RemoteError ? outcome : undefined;
    const { startedAt } = call;
    if (startedAt === undefined) return error && this.refused(call, error, call.span);
    const durationMs = performance.now() - startedAt;
    this.counts.ended(error === undefined ? 'result' : error.code, durationMs);
    endSpan(call, error);
    if (this.log.isLevelEnabled('debug')) this.#logEnd(call, error, durationMs);
  }

  #logEnd(call: EndedCall, error: RemoteError | undefined, durationMs: number): void {
    const { userId, remotename, functionName, requestId } = call;
    const facts = { userId, remotename, function: functionName, requestId };
    const outcome = error === undefined ? 'result' : error.code;
    this.log.debug({ ...facts, outcome, durationMs: Math.round(durationMs * 10) / 10 }, 'call ended');
  }
}

function endSpan({ span, requestId }: EndedCall, error: RemoteError | undefined): void {
  if (span === undefined) return;
  if (requestId !== undefined) span.set({ 'remotes_hub.request_id': requestId });
  span.end(error);
}
