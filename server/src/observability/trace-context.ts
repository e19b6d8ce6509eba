import type { TraceFields } from '@remotes-hub/client/trace-fields';

export type { TraceFields };

/** The fields of a call as the end of its message, with a comma before each; nothing for a call without a trace. */
export function traceText({ traceparent, tracestate }: TraceFields): string {
  if (traceparent === undefined) return '';
  const text = `,"traceparent":"${traceparent}"`; // of a form that needs no escapes
  return tracestate === undefined ? text : `${text},"tracestate":${JSON.stringify(tracestate)}`;
}
