import { errorCodes } from '@remotes-hub/protocol';
import { expect, test } from 'vitest';
import { CallCounts, DURATION_BOUNDS_MS } from '../../../server/src/observability/metrics.js';
import { startTestHub } from '../../support/hub.js';
import { finished, prompt, serving, startHub } from '../agents/hub-run-fixtures.js';
import { calling, says } from '../agents/run-fixtures.js';
import { connectionPair } from '../transport/connection-pair.js';
import { scrape } from './scrape.js';

test('OBS-01: calls are counted by how they end, and how long those took that were forwarded', async () => {
  await using hub = await startTestHub();
  const session = await serving(hub, ['f']);
  const caller = await hub.connect();

  const answered = caller.call('x', 'f');
  await session.answer(1);
  await answered;
  await caller.call('nobody', 'f');
  await caller.call('x', 'g');
  await caller.call('x', 'f', {}, { timeoutMs: 1 });
  const samples = await scrape(hub.hub);

  expect(samples).toMatchObject({
    'remotes_hub_calls_total{outcome="result"}': 1,
    'remotes_hub_calls_total{outcome="remote-not-connected"}': 1,
    'remotes_hub_calls_total{outcome="function-not-found"}': 1,
    'remotes_hub_calls_total{outcome="call-timeout"}': 1,
    'remotes_hub_calls_total{outcome="function-failed"}': 0,
    remotes_hub_call_duration_seconds_count: 2,
    'remotes_hub_call_duration_seconds_bucket{le="+Inf"}': 2,
  });
  expect(samples['remotes_hub_call_duration_seconds_sum']).toBeGreaterThan(0.001);
});

test('OBS-01: a result that does not fit its schema counts once, as invalid-result', async () => {
  await using hub = await startTestHub();
  const session = await hub.connect();
  const tools = [{ name: 'f', result: { type: 'string' } }];
  await session.request('remote-connect', { remotename: 'x', tools });
  for (const result of [1, 'right']) {
    const reply = session.call('x', 'f');
    await session.answer(result);
    await reply;
  }
  expect(await scrape(hub.hub)).toMatchObject({
    'remotes_hub_calls_total{outcome="invalid-result"}': 1,
    'remotes_hub_calls_total{outcome="result"}': 1,
    remotes_hub_call_duration_seconds_count: 2,
  });
});

test('OBS-01: calls beyond what one caller may have in flight are counted too', async () => {
  await using hub = await startTestHub({ limits: { maxCallsInFlight: 1 } });
  const session = await serving(hub);
  session.send({ action: 'remote-call', nonce: 1, body: { remotename: 'x', function: 'f' } });
  expect(await session.call('x', 'f')).toMatchObject({ code: 'too-many-calls' });

  expect(await scrape(hub.hub)).toMatchObject({
    'remotes_hub_calls_total{outcome="too-many-calls"}': 1,
    'remotes_hub_calls_total{outcome="result"}': 0,
    remotes_hub_calls_pending: 1,
  });
});

test('OBS-01: every outcome that there is has its count from the start, and no other has', async () => {
  await using hub = await startTestHub();
  const outcomes = Object.keys(await scrape(hub.hub)).flatMap(
    (name) => /^remotes_hub_calls_total\{outcome="(.*)"\}$/u.exec(name)?.[1] ?? [],
  );
  expect(outcomes).toEqual(['result', ...errorCodes]);
});

test('OBS-01: levels are those of the moment, and messages and bytes those since the start', async () => {
  await using hub = await startTestHub();
  const session = await serving(hub);
  await using stranger = await hub.open();
  const before = await scrape(hub.hub);
  session.send({ action: 'remote-call-result', requestId: 'x#99', result: 1 });
  await session.settle();
  const after = await scrape(hub.hub);

  expect(before).toMatchObject({
    remotes_hub_sessions: 1,
    remotes_hub_unauthenticated: 1,
    remotes_hub_remotes: 1,
    remotes_hub_providers: 1,
    remotes_hub_calls_pending: 0,
    remotes_hub_runs: 0,
    remotes_hub_backplane_ready: 1,
    remotes_hub_ignored_messages_total: 0,
    remotes_hub_slow_consumers_closed_total: 0,
  });
  const result = '{"action":"remote-call-result","requestId":"x#99","result":1}';
  const grown = (name: string): number => (after[name] ?? 0) - (before[name] ?? 0);
  expect(after['remotes_hub_ignored_messages_total']).toBe(1);
  expect(grown('remotes_hub_received_messages_total')).toBe(2);
  expect(grown('remotes_hub_received_bytes_total')).toBe(
    result.length + '{"action":"ping","nonce":"t2"}'.length,
  );
  expect(grown('remotes_hub_sent_messages_total')).toBe(1);
  expect(grown('remotes_hub_sent_bytes_total')).toBe('{"message":"pong","nonce":"t2"}'.length);
  expect(stranger.isOpen).toBe(true);
});

test('OBS-01: a connection that reads too slowly is counted once', async () => {
  using pair = await connectionPair({ maxQueuedBytes: 100_000 });
  pair.peer.pause();
  while (pair.ends() === 0) pair.connection.send('x'.repeat(10_000));
  const { sentMessages, sentBytes } = pair.traffic;
  pair.connection.send('x');

  expect(pair.traffic).toMatchObject({ slowConsumers: 1, sentMessages, sentBytes: sentMessages * 10_000 });
  expect(sentBytes).toBeGreaterThan(0);
});

test('OBS-01: logins are counted by how they end, whichever way in', async () => {
  await using hub = await startTestHub();
  await hub.connect();
  const session = await hub.open();
  await session.request('authenticate', { token: 'a.b.c' });
  await session.request('authenticate', { token: await hub.token() });
  await session.request('authenticate', { token: await hub.token() });
  await fetch(`${hub.url}/v1/auth/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username: 'nobody', password: 'nothing' }),
  });

  expect(await scrape(hub.hub)).toMatchObject({
    'remotes_hub_logins_total{outcome="success"}': 3,
    'remotes_hub_logins_total{outcome="invalid-credentials"}': 2,
    'remotes_hub_logins_total{outcome="rate-limited"}': 0,
    'remotes_hub_logins_total{outcome="internal-error"}': 0,
  });
});

test('OBS-01: runs, the steps of their models, and tokens are counted', async () => {
  const usage = { inputTokens: 5, outputTokens: 2 };
  const step = [calling('x_f'), { type: 'finish', reason: 'tool-calls', usage }] as const;
  await using stage = await startHub([step, says('done')]);
  const session = await serving(stage.hub);
  await prompt(session, { remotes: [{ name: 'x', prefix: 'x_' }] });
  await session.answer(1);
  await finished(session);

  expect(await scrape(stage.hub.hub)).toMatchObject({
    'remotes_hub_runs_total{status="completed"}': 1,
    'remotes_hub_runs_total{status="failed"}': 0,
    'remotes_hub_model_steps_total{outcome="tool-calls"}': 1,
    'remotes_hub_model_steps_total{outcome="stop"}': 1,
    'remotes_hub_tokens_total{kind="input"}': 5,
    'remotes_hub_tokens_total{kind="output"}': 2,
    'remotes_hub_calls_total{outcome="result"}': 1,
  });
});

test('OBS-01: a model that gives no answer is a failed step of a failed run', async () => {
  await using stage = await startHub([
    () => {
      throw new Error('no model');
    },
  ]);
  const session = await stage.hub.connect();
  await prompt(session);
  await finished(session);
  expect(await scrape(stage.hub.hub)).toMatchObject({
    'remotes_hub_runs_total{status="failed"}': 1,
    'remotes_hub_model_steps_total{outcome="failed"}': 1,
  });
});

test('OBS-01: several hubs in one process count apart, and metrics can be read after the end', async () => {
  await using one = await startTestHub();
  await using other = await startTestHub();
  await one.connect();
  expect((await scrape(one.hub))['remotes_hub_sessions']).toBe(1);
  expect((await scrape(other.hub))['remotes_hub_sessions']).toBe(0);
  await one.hub.close();
  expect(await scrape(one.hub)).toMatchObject({
    remotes_hub_sessions: 0,
    'remotes_hub_logins_total{outcome="success"}': 1,
  });
});

test('OBS-01: the process is told under its usual names', async () => {
  await using hub = await startTestHub();
  const samples = await scrape(hub.hub);
  expect(samples['process_resident_memory_bytes']).toBeGreaterThan(1e6);
  expect(samples['process_start_time_seconds']).toBeGreaterThan(1.6e9);
  expect(samples['process_cpu_seconds_total']).toBeGreaterThan(0);
  expect(samples).toHaveProperty('nodejs_eventloop_lag_p99_seconds');
});

test('a duration counts in the first bucket whose bound is not below it', () => {
  const counts = new CallCounts();
  for (const durationMs of [0, 0.5, 0.51, 60_000, 60_001]) counts.ended('result', durationMs);
  const { atMost, count, sumMs } = counts.durations();
  expect(atMost).toHaveLength(DURATION_BOUNDS_MS.length);
  expect(atMost.slice(0, 2)).toEqual([2, 3]);
  expect(atMost.at(-2)).toBe(3);
  expect(atMost.at(-1)).toBe(4);
  expect(count).toBe(5);
  expect(sumMs).toBeCloseTo(120_002.01);
});
