import { SpanKind, context } from '@opentelemetry/api';
import type { JsonValue } from '@remotes-hub/protocol';
import type { Hub } from '../hub.js';
import type { CallOptions } from '../options.js';
import { remoteProxy } from '../remote-proxy.js';
import { inSpan } from './spans.js';
import { tracedFunctions } from './traced-functions.js';
import { readTraceFields, writeTraceFields } from './trace-fields.js';

/**
 * The same session, traced: each of its calls, also those of `remote`, is a span inside the active one (or inside what
 * its options' `traceparent` speaks of), which the hub and the handler continue; what it serves is served as
 * {@link tracedFunctions}. Without an SDK of OpenTelemetry it does what the session does.
 */
export function tracedHub(hub: Hub): Hub {
  const call: Hub['call'] = (remotename, functionName, args, options = {}) =>
    tracedCall(hub, { remotename, functionName, args, options });
  const own: Pick<Hub, 'call' | 'remote' | 'serve'> = {
    call,
    remote: (remotename, options = {}) => remoteProxy({ call }, remotename, options),
    serve: (remotename, functions, options) => hub.serve(remotename, tracedFunctions(functions), options),
  };
  return new Proxy(hub, {
    get: (target, name): unknown => {
      const owner = Object.hasOwn(own, name) ? own : target;
      const value: unknown = Reflect.get(owner, name, owner);
      if (typeof value !== 'function') return value;
      const bound: unknown = value.bind(owner);
      return bound;
    },
  });
}

interface Call {
  readonly remotename: string;
  readonly functionName: string;
  readonly args: object | undefined;
  readonly options: CallOptions;
}

function tracedCall(hub: Hub, { remotename, functionName, args, options }: Call): Promise<JsonValue> {
  return inSpan(
    {
      name: 'remotes_hub.call',
      kind: SpanKind.CLIENT,
      attributes: { 'remotes_hub.remotename': remotename, 'remotes_hub.function': functionName },
      parent: options.traceparent === undefined ? context.active() : readTraceFields(options),
    },
    (span) =>
      hub.call(remotename, functionName, args, { ...options, ...writeTraceFields(span.spanContext()) }),
  );
}
