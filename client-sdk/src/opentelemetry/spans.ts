import {
  SpanStatusCode,
  context,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanKind,
} from '@opentelemetry/api';
import { RemoteError } from '../errors.js';

/** The name under which the spans are made. */
const TRACER = '@remotes-hub/client';

/** What a span is made of. */
export interface SpanDescription {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  /** What it belongs to. */
  readonly parent: Context;
}

/** Does something inside a span of its own, the active one meanwhile. The span has a failure's code, and no text. */
export async function inSpan<Result>(
  { parent, name, ...options }: SpanDescription,
  work: (span: Span) => Result | Promise<Result>,
): Promise<Result> {
  const span = trace.getTracer(TRACER).startSpan(name, options, parent);
  try {
    return await context.with(trace.setSpan(parent, span), () => work(span));
  } catch (error) {
    if (error instanceof RemoteError) {
      span.setAttributes({ 'remotes_hub.code': error.code, 'remotes_hub.executed': error.executed });
    }
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
