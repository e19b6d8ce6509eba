import {
  ROOT_CONTEXT,
  createTraceState,
  isSpanContextValid,
  trace,
  type Context,
  type SpanContext,
} from '@opentelemetry/api';
import { MAX_TRACESTATE_LENGTH } from '@remotes-hub/protocol/limits';

/** Where something belongs in a trace, as W3C Trace Context writes it: options of a call that go with any others. */
export interface TraceFields {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

const pattern = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/u;

/**
 * The fields of the active span, to be given to a call by hand: `hub.call(name, function, args, activeTrace())`. Empty
 * without one.
 */
export function activeTrace(): TraceFields {
  const span = trace.getActiveSpan();
  return span === undefined ? {} : writeTraceFields(span.spanContext());
}

/** The fields that speak of a span; none of a span that is not valid. */
export function writeTraceFields(spanContext: SpanContext): TraceFields {
  if (!isSpanContextValid(spanContext)) return {};
  const { traceId, spanId, traceFlags, traceState } = spanContext;
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  const tracestate = traceState?.serialize() ?? '';
  const isSent = tracestate !== '' && tracestate.length <= MAX_TRACESTATE_LENGTH;
  return isSent ? { traceparent, tracestate } : { traceparent };
}

/** The context that such fields speak of; the root when they are malformed or absent. */
export function readTraceFields({ traceparent, tracestate }: TraceFields): Context {
  const [, traceId, spanId, flags = ''] = pattern.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  const spanContext: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  };
  if (tracestate !== undefined) spanContext.traceState = createTraceState(tracestate);
  return isSpanContextValid(spanContext) ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : ROOT_CONTEXT;
}
