import { SpanKind, type Span } from '@opentelemetry/api';
import type { FunctionDefinition, FunctionDefinitions } from '../functions.js';
import type { CallContext } from '../served-function.js';
import { inSpan } from './spans.js';
import { readTraceFields, writeTraceFields } from './trace-fields.js';

/**
 * The same functions, each handler inside a span that continues the trace of its call. That span is the active one, as
 * far as the context manager of the page or process carries it, and in any case what `traceparent` and `tracestate` of
 * the handler's context speak of.
 */
export function tracedFunctions<Schemas>(
  functions: FunctionDefinitions<Schemas>,
): FunctionDefinitions<Schemas> {
  const traced: { [Name in keyof Schemas]: FunctionDefinition<Schemas[Name]> } = { ...functions };
  for (const name in functions) {
    if (Object.hasOwn(functions, name)) traced[name] = tracedFunction(name, functions[name]);
  }
  return traced;
}

function tracedFunction<Schema>(
  name: string,
  definition: FunctionDefinition<Schema>,
): FunctionDefinition<Schema> {
  return {
    ...definition,
    handler: (args, context) =>
      inSpan(
        {
          name: 'remotes_hub.handler',
          kind: SpanKind.SERVER,
          attributes: { 'remotes_hub.function': name, 'remotes_hub.request_id': context.requestId },
          parent: readTraceFields(context),
        },
        (span) => definition.handler(args, contextIn(span, context)),
      ),
  };
}

/** What the handler is told, with its own span as its place in the trace. Its signal is made only when it asks for it. */
function contextIn(span: Span, context: CallContext): CallContext {
  const { requestId, timeoutMs } = context;
  const fields = writeTraceFields(span.spanContext());
  return {
    get signal() {
      return context.signal;
    },
    requestId,
    timeoutMs,
    traceparent: fields.traceparent,
    tracestate: fields.tracestate,
    progress: (value) => context.progress(value),
  };
}
