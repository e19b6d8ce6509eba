import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { connect } from '@remotes-hub/client';
import { tracedFunctions } from '@remotes-hub/client/opentelemetry';
import { expect, test } from 'vitest';
import { agents, finished, prompt } from '../server/agents/hub-run-fixtures.js';
import { ScriptedModel, calling, says, stop } from '../server/agents/run-fixtures.js';
import { scrape } from '../server/observability/scrape.js';
import type { TestHub } from '../support/hub.js';
import { redisNote, redisPath } from '../support/redis.js';
import { recordSpans } from '../support/spans.js';
import { startNodes, untilReady } from './nodes.js';

const cluster = test.skipIf(redisPath === undefined);

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

cluster(
  `CLUSTER-12: one trace leads from a call over two nodes to the handler, with one span for the call${redisNote}`,
  async () => {
    using spans = recordSpans();
    await using nodes = await startNodes();
    await using tab = await connect(nodes.node(0).url, { token: await nodes.node(0).token() });
    await tab.serve('x', tracedFunctions({ f: { handler: () => 'r3sult' } }));
    const caller = await nodes.node(1).connect();
    expect(await caller.call('x', 'f', {}, { traceparent, tracestate: 'vendor=1' })).toMatchObject({
      result: 'r3sult',
    });

    const [call, handler] = [await spans.named('remotes_hub.call'), await spans.named('remotes_hub.handler')];
    expect(spans.all().length).toBe(2);
    expect(call.kind).toBe(SpanKind.SERVER);
    expect(call.spanContext().traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
    expect(call.parentSpanContext).toMatchObject({ spanId: '00f067aa0ba902b7', isRemote: true });
    expect(handler.spanContext().traceId).toBe(call.spanContext().traceId);
    expect(handler.parentSpanContext).toMatchObject({ spanId: call.spanContext().spanId, isRemote: true });
    expect(call.attributes).toMatchObject({ 'remotes_hub.remotename': 'x', 'remotes_hub.function': 'f' });
    expect(call.status.code).toBe(SpanStatusCode.UNSET);
  },
);

cluster("CLUSTER-12: a run's trace leads to the handler on another node", async () => {
  using spans = recordSpans();
  const model = new ScriptedModel([[calling('f'), stop], says('done')]);
  await using nodes = await startNodes({ config: { agents }, options: { createModel: () => model } });
  await using tab = await connect(nodes.node(1).url, { token: await nodes.node(1).token() });
  await tab.serve('x', tracedFunctions({ f: { handler: () => 1 } }));
  const session = await nodes.node(0).connect();
  await prompt(session, { remotes: ['x'] });
  expect(await finished(session)).toMatchObject({ status: 'completed' });
  const [step, call, handler] = [
    await spans.named('remotes_hub.model_step'),
    await spans.named('remotes_hub.call'),
    await spans.named('remotes_hub.handler'),
  ];
  expect(call.kind).toBe(SpanKind.CLIENT);
  expect(call.parentSpanContext?.spanId).toBe(step.spanContext().spanId);
  expect(handler.parentSpanContext?.spanId).toBe(call.spanContext().spanId);
  expect(spans.all().filter(({ name }) => name === 'remotes_hub.call').length).toBe(1);
});

cluster('CLUSTER-12: the span of a call that failed on another node tells why, and its request', async () => {
  using spans = recordSpans();
  await using nodes = await startNodes();
  const [serving, caller] = [await nodes.node(0).connect(), await nodes.node(1).connect()];
  await serving.serve('x', ['f']);
  const reply = caller.call('x', 'f');
  const { requestId } = await serving.next('remote-call');
  serving.send({ action: 'remote-call-result', requestId, error: 's3cret', executed: 'yes' });
  expect(await reply).toMatchObject({ code: 'function-failed' });
  const call = await spans.named('remotes_hub.call');
  expect(call.status.code).toBe(SpanStatusCode.ERROR);
  expect(call.attributes).toMatchObject({
    'remotes_hub.code': 'function-failed',
    'remotes_hub.executed': 'yes',
    'remotes_hub.request_id': 'x#0',
  });
  expect(JSON.stringify([call.attributes, call.events, call.status])).not.toContain('s3cret');
});

/** Calls by outcome, as a node counts them. */
async function countedBy({ hub }: TestHub): Promise<Record<string, number>> {
  const samples = Object.entries(await scrape(hub));
  return Object.fromEntries(
    samples.filter(([name, value]) => name.startsWith('remotes_hub_calls_total') && value > 0),
  );
}

cluster(
  'CLUSTER-12: a call over two nodes is counted, timed and logged once, by the node of its caller',
  async () => {
    await using nodes = await startNodes();
    const [here, there] = [nodes.node(0), nodes.node(1)];
    const [serving, caller] = [await here.connect(), await there.connect()];
    await serving.serve('x', ['f']);
    const reply = caller.call('x', 'f', { n: 'arg0ment' });
    await serving.next('remote-call');
    expect((await scrape(here.hub))['remotes_hub_calls_pending']).toBe(1);
    expect((await scrape(there.hub))['remotes_hub_calls_pending']).toBe(0);
    serving.send({ action: 'remote-call-result', requestId: 'x#0', result: 'r3sult' });
    await reply;
    expect((await scrape(there.hub))['remotes_hub_call_duration_seconds_count']).toBe(1);
    await caller.call('nobody', 'f');
    await caller.call('x', 'nope');

    expect(await countedBy(here)).toEqual({});
    expect(await countedBy(there)).toEqual({
      'remotes_hub_calls_total{outcome="result"}': 1,
      'remotes_hub_calls_total{outcome="remote-not-connected"}': 1,
      'remotes_hub_calls_total{outcome="function-not-found"}': 1,
    });
    expect((await scrape(here.hub))['remotes_hub_call_duration_seconds_count']).toBe(0);
    const lines = nodes.all.map((hub) => hub.logs.filter(({ outcome }) => outcome !== undefined).length);
    expect(lines).toEqual([0, 3]);
    expect(JSON.stringify(nodes.all.flatMap(({ logs }) => logs))).not.toMatch(/arg0ment|r3sult/u);
  },
);

cluster('CLUSTER-12: a call that another node refuses is not timed, as on one node', async () => {
  await using nodes = await startNodes();
  const [serving, caller] = [await nodes.node(0).connect(), await nodes.node(1).connect()];
  await serving.serve('x', ['f']);
  expect(await caller.call('x', 'nope')).toMatchObject({ code: 'function-not-found' });
  expect((await scrape(nodes.node(1).hub))['remotes_hub_call_duration_seconds_count']).toBe(0);
});

cluster('CLUSTER-12: the span of a call that succeeded on another node tells its request', async () => {
  using spans = recordSpans();
  await using nodes = await startNodes();
  const [serving, caller] = [await nodes.node(0).connect(), await nodes.node(1).connect()];
  await serving.serve('x', ['f']);
  const reply = caller.call('x', 'f');
  await serving.answer(1);
  await reply;
  expect((await spans.named('remotes_hub.call')).attributes).toHaveProperty(
    ['remotes_hub.request_id'],
    'x#0',
  );
});

cluster(
  'CLUSTER-12: the gauge of the backplane is 1 while the other nodes can be reached, and 0 otherwise',
  async () => {
    await using nodes = await startNodes({ count: 1 });
    const { hub } = nodes.node(0);
    const ready = async (): Promise<number | undefined> => (await scrape(hub))['remotes_hub_backplane_ready'];
    expect(await ready()).toBe(1);
    await nodes.redis.kill();
    await untilReady(nodes.node(0), false);
    expect(await ready()).toBe(0);
    await nodes.redis.restart({ keepData: false });
    await untilReady(nodes.node(0));
    expect(await ready()).toBe(1);
  },
);

cluster('CLUSTER-12: no line of any node holds an instance id, a token or the URL of Redis', async () => {
  await using nodes = await startNodes({
    urlOf: (_index, url) => url.replace('redis://', 'redis://default:p4ssword@'),
    count: 1,
  });
  const instanceId = 'q8Zr3kX0aW5nT7uB';
  const session = await nodes.node(0).connect({ instanceId });
  await session.serve('x', ['f']);
  await nodes.redis.stop();
  await untilReady(nodes.node(0), false);
  const lines = JSON.stringify(nodes.node(0).logs);
  expect(lines).not.toMatch(/p4ssword|q8Zr3kX0aW5nT7uB|redis:\/\//u);
});
