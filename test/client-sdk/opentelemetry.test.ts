import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { connect, type CallContext, type Hub } from '@remotes-hub/client';
import { activeTrace, tracedFunctions, tracedHub } from '@remotes-hub/client/opentelemetry';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { startTestHub, type TestHub } from '../support/hub.js';
import { recordSpans, traceparentOf } from '../support/spans.js';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

async function tracedSession(hub: TestHub): Promise<Hub> {
  return tracedHub(await connect(hub.url, { token: await hub.token() }));
}

/** Runs inside a span of its own. */
async function inside<T>(name: string, work: () => Promise<T>): Promise<T> {
  return trace.getTracer('test').startActiveSpan(name, async (span) => {
    try {
      return await work();
    } finally {
      span.end();
    }
  });
}

test('OBS-10: a call made inside a span, and one made by its handler, are one trace down to the last handler', async () => {
  using spans = recordSpans();
  await using hub = await startTestHub();
  await using session = await tracedSession(hub);
  await session.serve('near', {
    f: { handler: async () => session.remote('far')['g']?.({ a: 1 }) },
  });
  await session.serve('far', { g: { handler: () => 'done' } });

  expect(await inside('page', () => session.call('near', 'f'))).toBe('done');

  const page = await spans.named('page');
  const chain: string[] = [];
  for (let parent: string | undefined = page.spanContext().spanId; parent !== undefined;) {
    const child = spans.all().find((span) => span.parentSpanContext?.spanId === parent);
    if (child !== undefined) chain.push(`${child.name} ${SpanKind[child.kind]}`);
    parent = child?.spanContext().spanId;
  }
  const hop = ['remotes_hub.call CLIENT', 'remotes_hub.call SERVER', 'remotes_hub.handler SERVER'];
  expect(chain).toEqual([...hop, ...hop]);
  expect(new Set(spans.all().map((span) => span.spanContext().traceId)).size).toBe(1);
});

test("OBS-10: a handler's context speaks of its own span, for calls made where no span is active", async () => {
  using spans = recordSpans();
  await using hub = await startTestHub();
  await using session = await connect(hub.url, { token: await hub.token() });
  const seen: (string | undefined)[] = [];
  const handler = (_args: unknown, context: CallContext): void => {
    seen.push(context.traceparent, context.requestId, String(context.signal.aborted));
    context.progress(1);
  };
  await session.serve('x', tracedFunctions({ f: { handler } }));
  const progress: unknown[] = [];
  await session.call('x', 'f', {}, { traceparent, onProgress: (value) => void progress.push(value) });

  const span = await spans.named('remotes_hub.handler');
  expect(seen).toEqual([traceparentOf(span), 'x#0', 'false']);
  expect(progress).toEqual([1]);
  expect(span.spanContext().traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
  expect(span.attributes).toEqual({ 'remotes_hub.function': 'f', 'remotes_hub.request_id': 'x#0' });
});

test('OBS-10: what goes wrong shows in the spans, by its code and without its text', async () => {
  using spans = recordSpans();
  await using hub = await startTestHub();
  await using session = await tracedSession(hub);
  await session.serve('x', { f: { handler: () => Promise.reject(new Error('s3cret')) } });
  await expect(session.call('x', 'f')).rejects.toMatchObject({ code: 'function-failed', message: 's3cret' });

  const handler = await spans.named('remotes_hub.handler');
  const call = spans.all().find(({ kind }) => kind === SpanKind.CLIENT);
  expect(handler.status).toEqual({ code: SpanStatusCode.ERROR });
  expect(call?.status).toEqual({ code: SpanStatusCode.ERROR });
  expect(call?.attributes).toEqual({
    'remotes_hub.remotename': 'x',
    'remotes_hub.function': 'f',
    'remotes_hub.code': 'function-failed',
    'remotes_hub.executed': 'yes',
  });
  expect(JSON.stringify([handler.attributes, handler.events, call?.events])).not.toContain('s3cret');
});

test('OBS-10: traced functions are the same functions: specs, schemas and types', async () => {
  using spans = recordSpans();
  await using hub = await startTestHub();
  await using session = await tracedSession(hub);
  await session.serve('x', {
    add: {
      description: 'Adds.',
      parameters: z.object({ a: z.number(), b: z.number().default(1) }),
      maxConcurrent: 1,
      handler: ({ a, b }) => a + b,
    },
  });
  expect((await session.list())[0]?.tools).toMatchObject([{ name: 'add', description: 'Adds.' }]);
  expect(await session.call('x', 'add', { a: 2 })).toBe(3);
  expect(spans.all().length).toBeGreaterThan(0);
  expect(() => tracedFunctions({})).not.toThrow();
});

test('OBS-10: a traced session does all that a session does', async () => {
  using _spans = recordSpans();
  await using hub = await startTestHub();
  const session = await tracedSession(hub);
  expect(session.userId).toBe('u1');
  expect(session.isOpen).toBe(true);
  expect(await session.ping()).toBeGreaterThanOrEqual(0);
  const events: string[] = [];
  session.on('remote-connected', ({ remotename }) => events.push(remotename));
  await using remote = await session.serve('x', { f: { handler: () => 1 } });
  expect(remote.isConnected).toBe(true);
  await session.ping();
  expect(events).toEqual(['x']);
  await session.close();
  expect(await session.closed).toMatchObject({ code: 1000 });
});

test('OBS-10: the active span is given to a call by hand', async () => {
  using spans = recordSpans();
  await using hub = await startTestHub();
  await using session = await connect(hub.url, { token: await hub.token() });
  await session.serve('x', { f: { handler: (_args: object, context) => context.traceparent ?? null } });
  await inside('page', () => session.call('x', 'f', {}, { timeoutMs: 1_000, ...activeTrace() }));
  const [page, call] = [await spans.named('page'), await spans.named('remotes_hub.call')];
  expect(call.parentSpanContext?.spanId).toBe(page.spanContext().spanId);
  expect(activeTrace()).toEqual({});
});

test('OBS-10: without an SDK a traced session passes on what it is given, and nothing else', async () => {
  await using hub = await startTestHub();
  await using session = await tracedSession(hub);
  await session.serve('x', { f: { handler: (_args: object, context) => context.traceparent ?? null } });
  expect(await session.call('x', 'f', {}, { traceparent })).toBe(traceparent);
  expect(await session.call('x', 'f')).toBeNull();
});
