import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type Sampler,
} from '@opentelemetry/sdk-trace-base';
import { eventually } from './eventually.js';

/** The spans of this process while a test records them. */
export interface RecordedSpans extends Disposable {
  /** Those that have ended. */
  all(): ReadableSpan[];
  /** The one of this name; waits until it has ended. */
  named(name: string): Promise<ReadableSpan>;
}

/** Registers the SDK of OpenTelemetry, as a host program would, until the test has ended. */
export function recordSpans(sampler?: Sampler): RecordedSpans {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler && { sampler }),
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const all = (): ReadableSpan[] => exporter.getFinishedSpans();
  return {
    all,
    named: async (name) => {
      const find = (): ReadableSpan | undefined => all().find((span) => span.name === name);
      await eventually(() => find() !== undefined, `a span ${name}`);
      const span = find();
      if (span === undefined) throw new Error(`the span ${name} has gone`);
      return span;
    },
    [Symbol.dispose]: () => {
      trace.disable();
      context.disable();
    },
  };
}

/** `traceparent` of a span. */
export function traceparentOf(span: ReadableSpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-0${traceFlags}`;
}
