import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base';
import { connect } from '@remotes-hub/client';
import { tracedFunctions } from '@remotes-hub/client/opentelemetry';
import { expect, test } from 'vitest';
import type { NativeTool } from '../../../server/src/agents/native-tool.js';
import { startTestHub } from '../../support/hub.js';
import { recordSpans, traceparentOf } from '../../support/spans.js';
import { finished, prompt, serving, startHub } from '../agents/hub-run-fixtures.js';
import { agentsOf, calling, says, stop, testRuns } from '../agents/run-fixtures.js';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const tracestate = 'vendor=1';

test("OBS-07: one trace leads from a model's step over the hub's call to the handler in a session", async () => {
  using spans = recordSpans();
  const usage = { inputTokens: 3, outputTokens: 4 };
  const step = [calling('f', '{"a":"4rgument"}'), { type: 'finish', reason: 'tool-calls', usage }] as const;
  await using stage = await startHub([step, says('done')]);
  await using tab = await connect(stage.hub.url, { token: await stage.hub.token() });
  await tab.serve('x', tracedFunctions({ f: { handler: () => 'r3sult' } }));
  const session = await stage.hub.connect();
  const runId = await prompt(session, { remotes: ['x'] });
  await finished(session);

  const [run, first, call, handler] = [
    await spans.named('remotes_hub.run'),
    await spans.named('remotes_hub.model_step'),
    await spans.named('remotes_hub.call'),
    await spans.named('remotes_hub.handler'),
  ];
  expect(new Set(spans.all().map((span) => span.spanContext().traceId)).size).toBe(1);
  expect(run.parentSpanContext).toBeUndefined();
  expect(first.parentSpanContext?.spanId).toBe(run.spanContext().spanId);
  expect(call.parentSpanContext?.spanId).toBe(first.spanContext().spanId);
  expect(handler.parentSpanContext).toMatchObject({ spanId: call.spanContext().spanId, isRemote: true });

  expect([run.kind, first.kind, call.kind, handler.kind]).toEqual([
    SpanKind.INTERNAL,
    SpanKind.INTERNAL,
    SpanKind.CLIENT,
    SpanKind.SERVER,
  ]);
  expect(run.attributes).toEqual({
    'remotes_hub.run_id': runId,
    'remotes_hub.agent_id': '7',
    'remotes_hub.status': 'completed',
  });
  expect(first.attributes).toEqual({
    'remotes_hub.finish_reason': 'tool-calls',
    'gen_ai.usage.input_tokens': 3,
    'gen_ai.usage.output_tokens': 4,
  });
  expect(call.attributes).toEqual({
    'remotes_hub.remotename': 'x',
    'remotes_hub.function': 'f',
    'remotes_hub.request_id': 'x#0',
  });
  const told = JSON.stringify(spans.all().map(({ name, attributes, events }) => [name, attributes, events]));
  expect(told).not.toMatch(/4rgument|r3sult/u);
});

test("OBS-08: a session's call is a span of the caller's trace, and its own is what is forwarded", async () => {
  using spans = recordSpans();
  await using hub = await startTestHub();
  const session = await serving(hub);
  const reply = session.call('x', 'f', {}, { traceparent, tracestate });
  const forwarded = await session.answer(1);
  await reply;

  const call = await spans.named('remotes_hub.call');
  expect(call.kind).toBe(SpanKind.SERVER);
  expect(call.spanContext().traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
  expect(call.parentSpanContext).toMatchObject({ spanId: '00f067aa0ba902b7', isRemote: true });
  expect(forwarded).toMatchObject({ traceparent: traceparentOf(call), tracestate });
  expect(call.status.code).toBe(SpanStatusCode.UNSET);
});

test('OBS-08: a call without a trace begins one', async () => {
  using spans = recordSpans();
  await using hub = await startTestHub();
  const session = await serving(hub);
  const reply = session.call('x', 'f');
  const forwarded = await session.answer(1);
  await reply;
  const call = await spans.named('remotes_hub.call');
  expect(call.parentSpanContext).toBeUndefined();
  expect(forwarded['traceparent']).toBe(traceparentOf(call));
});

test.each([
  ['nobody', 'f', 'remote-not-connected', 'no'],
  ['x', 'f', 'call-timeout', 'unknown'],
])('OBS-08: the span of a call of %s.%s that fails says %s', async (remotename, name, code, executed) => {
  using spans = recordSpans();
  await using hub = await startTestHub();
  const session = await serving(hub);
  await session.call(remotename, name, {}, { timeoutMs: 1 });
  const call = await spans.named('remotes_hub.call');
  expect(call.attributes).toMatchObject({
    'remotes_hub.remotename': remotename,
    'remotes_hub.code': code,
    'remotes_hub.executed': executed,
  });
  expect(call.status).toEqual({ code: SpanStatusCode.ERROR, message: code });
});

test('OBS-08: a result that does not fit its schema is a failure of the span, too', async () => {
  using spans = recordSpans();
  await using hub = await startTestHub();
  const session = await hub.connect();
  await session.request('remote-connect', {
    remotename: 'x',
    tools: [{ name: 'f', result: { type: 'string' } }],
  });
  const reply = session.call('x', 'f');
  await session.answer(1);
  await reply;
  const call = await spans.named('remotes_hub.call');
  expect(call.attributes['remotes_hub.code']).toBe('invalid-result');
  expect(spans.all()).toHaveLength(1);
});

test('OBS-08: a trace that is not recorded is passed on as not recorded', async () => {
  using spans = recordSpans(new AlwaysOffSampler());
  await using hub = await startTestHub();
  const session = await serving(hub);
  void session.call('x', 'f', {}, { traceparent });
  const { traceparent: forwarded } = await session.next('remote-call');
  expect(forwarded).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-00$/u);
  expect(spans.all()).toEqual([]);
});

test('OBS-08: an SDK that is registered after the hub was made is found', async () => {
  await using hub = await startTestHub();
  const session = await serving(hub);
  const untraced = session.call('x', 'f', {}, { traceparent });
  expect(await session.answer(1)).toMatchObject({ traceparent });
  await untraced;
  using spans = recordSpans();
  const traced = session.call('x', 'f', {}, { traceparent });
  await session.answer(1);
  await traced;
  expect(await spans.named('remotes_hub.call')).toBeDefined();
});

test("the host program's call belongs to its active span, and its functions run inside that of the call", async () => {
  using spans = recordSpans();
  await using hub = await startTestHub();
  const seen: unknown[] = [];
  hub.hub.connectRemote({
    userId: 'u1',
    remotename: 'x',
    functions: [
      {
        name: 'f',
        handler: (_args, context) => {
          seen.push(trace.getActiveSpan()?.spanContext().spanId, context.traceparent);
        },
      },
    ],
  });
  await trace.getTracer('test').startActiveSpan('outer', async (outer) => {
    await hub.hub.call({ userId: 'u1', remotename: 'x', function: 'f' });
    outer.end();
  });
  const [outer, call] = [await spans.named('outer'), await spans.named('remotes_hub.call')];
  expect(call.parentSpanContext?.spanId).toBe(outer.spanContext().spanId);
  expect(seen).toEqual([call.spanContext().spanId, traceparentOf(call)]);
});

test('OBS-07: a native tool runs inside a span of its step', async () => {
  using spans = recordSpans();
  const active: unknown[] = [];
  const native: NativeTool = {
    spec: { name: 'look', description: '', parameters: {} },
    run: () => {
      active.push(trace.getActiveSpan()?.spanContext().spanId);
      throw new TypeError('a text of its own');
    },
  };
  await using stage = testRuns({
    steps: [[calling('look'), stop], says('done')],
    nativeTools: new Map([['look', native]]),
    agents: agentsOf({ tools: ['look'] }),
  });
  await stage.finish();
  const [step, tool] = [await spans.named('remotes_hub.model_step'), await spans.named('remotes_hub.tool')];
  expect(tool.parentSpanContext?.spanId).toBe(step.spanContext().spanId);
  expect(active).toEqual([tool.spanContext().spanId]);
  expect(tool.status).toEqual({ code: SpanStatusCode.ERROR, message: 'internal-error' });
});

test('OBS-07: a run that is cancelled, and its step, end as failures of their spans', async () => {
  using spans = recordSpans();
  await using stage = await startHub([
    async function* ({ signal }) {
      yield { type: 'text', text: 'one' };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  ]);
  const session = await stage.hub.connect();
  const runId = await prompt(session);
  await session.event('run-text');
  await session.request('run-cancel', { runId });
  await finished(session);
  const [run, step] = [await spans.named('remotes_hub.run'), await spans.named('remotes_hub.model_step')];
  expect(run.attributes['remotes_hub.status']).toBe('cancelled');
  expect([run.status.message, step.status.message]).toEqual(['cancelled', 'cancelled']);
});
