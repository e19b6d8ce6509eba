import {
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  context,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { readTraceFields, writeTraceFields } from '@remotes-hub/client/trace-fields';
import type { ErrorCode, Executed } from '@remotes-hub/protocol';
import type { TraceFields } from './trace-context.js';

/** The name under which the spans are made. */
const TRACER = '@remotes-hub/server';

/** Who makes a call, as far as its span tells. */
export interface TracedCall extends TraceFields {
  readonly remotename: string;
  readonly functionName: string;
  /** The span that it belongs to, of a caller in this process; its trace fields are not looked at then. */
  readonly parent?: TraceSpan | undefined;
}

/** Why something failed, as far as its span tells: no text, which might hold what was called with. */
export interface TracedFailure {
  readonly code: ErrorCode;
  readonly executed: Executed;
}

/**
 * Makes spans through the API of OpenTelemetry, when the process has an SDK registered, before or after the hub was
 * made; else nothing. Contexts are passed on, never looked up: no call depends on what is active.
 */
export class Tracing {
  #tracer: Tracer | undefined;

  /**
   * Starts the span of a call; `undefined` without an SDK. The caller's fields are then passed on as they are.
   * A call from outside is served by this process (kind server), one from within leaves it (kind client).
   */
  startCall(call: TracedCall): TraceSpan | undefined {
    const tracer = this.#find();
    if (tracer === undefined) return undefined;
    const { remotename, functionName, parent } = call;
    const isOutside = parent === undefined && call.traceparent !== undefined;
    return new TraceSpan(
      tracer,
      {
        name: 'remotes_hub.call',
        kind: isOutside ? SpanKind.SERVER : SpanKind.CLIENT,
        attributes: { 'remotes_hub.remotename': remotename, 'remotes_hub.function': functionName },
      },
      parent?.context ?? readTraceFields(call),
    );
  }

  /** Starts the span of something in this process; `undefined` without an SDK. */
  start(name: string, attributes: Attributes, parent?: TraceSpan): TraceSpan | undefined {
    const tracer = this.#find();
    if (tracer === undefined) return undefined;
    const kind = SpanKind.INTERNAL;
    return new TraceSpan(tracer, { name, kind, attributes }, parent?.context ?? ROOT_CONTEXT);
  }

  /** The tracer of the SDK, looked for until there is one. */
  #find(): Tracer | undefined {
    this.#tracer ??= registeredTracer();
    return this.#tracer;
  }
}

function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  // without an SDK this is the API's own stand-in, whose spans would only cost
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(TRACER)
    : provider.getTracer(TRACER);
}

/** A span of the hub, and the fields by which what it causes elsewhere goes on. */
export class TraceSpan implements TraceFields {
  readonly context: Context;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly #span: Span;

  constructor(
    tracer: Tracer,
    { name, ...options }: { readonly name: string; readonly kind: SpanKind; readonly attributes: Attributes },
    parent: Context,
  ) {
    this.#span = tracer.startSpan(name, options, parent);
    this.context = trace.setSpan(parent, this.#span);
    ({ traceparent: this.traceparent, tracestate: this.tracestate } = writeTraceFields(
      this.#span.spanContext(),
    ));
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  /** Marks a moment. */
  mark(name: string): void {
    this.#span.addEvent(name);
  }

  /** Ends it; without a failure, well. */
  end(failure?: TracedFailure): void {
    if (failure !== undefined) {
      const { code, executed } = failure;
      this.#span.setAttributes({ 'remotes_hub.code': code, 'remotes_hub.executed': executed });
    }
    this.close(failure?.code);
  }

  /** Ends it. @param failure a word for what went wrong */
  close(failure?: string): void {
    if (failure !== undefined) this.#span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
    this.#span.end();
  }

  /** Runs something with this span as the active one, for what instruments itself. */
  run<Result>(work: () => Result): Result {
    return context.with(this.context, work);
  }
}
