import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { isOnTwoNodes, startTestHub, type TestHub } from '../../support/hub.js';

async function remoteWith(hub: TestHub, spec: object = {}) {
  const server = await hub.connect({ v1: true });
  const caller = await hub.connect({ v1: true });
  await server.request('remote-connect', { remotename: 'x', tools: [{ name: 'f', ...spec }] });
  return { server, caller };
}

const timedOut = { code: 'call-timeout', executed: 'unknown', retryable: false };
const textOf = (ms: number): string => `remote 'x' did not answer within ${ms} ms`;

const timeouts: [string, number | undefined, number | undefined, number][] = [
  ['nobody asks', undefined, undefined, 30_000],
  ['the function asks', undefined, 1_000, 1_000],
  ['the caller asks for less than the function', 500, 1_000, 500],
  ['the caller asks for the least', 1, undefined, 1],
];
// on two nodes the clock of the test would outrun their leases
if (!isOnTwoNodes) {
  timeouts.push(['the caller asks for more than the function', 60_000, 1_000, 60_000]);
  timeouts.push(['the caller asks for the most', 600_000, 1_000, 600_000]);
}

test.each(timeouts)(
  'CALL-12 CALL-13: when %s the call ends at its timeout and not before',
  async (_who, asked, spec, ms) => {
    using clock = fakeClock();
    await using hub = await startTestHub();
    const { server, caller } = await remoteWith(hub, { timeoutMs: spec });

    const reply = caller.call('x', 'f', {}, { timeoutMs: asked });
    expect(await server.next('remote-call')).toMatchObject({ timeoutMs: ms });
    await clock.advance(ms - 1);
    expect(hub.hub.counts().pendingCalls).toBe(1);
    await clock.advance(1);
    expect(await reply).toMatchObject({ error: textOf(ms), ...timedOut });
    expect(await server.next('remote-call-cancel')).toMatchObject({
      requestId: 'x#0',
      reason: 'call-timeout',
    });
    expect(hub.hub.counts().pendingCalls).toBe(0);
  },
);

test('CALL-12: the hub’s own default and maximum bound caller and function alike', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub({ limits: { callTimeoutMs: 200, maxCallTimeoutMs: 1_000 } });
  const { server, caller } = await remoteWith(hub, { timeoutMs: 5_000 });
  await server.serve('y', ['f']);

  const replies = [
    caller.call('y', 'f'),
    caller.call('x', 'f'),
    caller.call('x', 'f', {}, { timeoutMs: 600_000 }),
  ];
  const told = [];
  for (const _reply of replies) told.push((await server.next('remote-call'))['timeoutMs']);
  expect(told).toEqual([200, 1_000, 1_000]);
  await clock.advance(200);
  expect(await replies[0]).toMatchObject({ error: "remote 'y' did not answer within 200 ms", ...timedOut });
  await clock.advance(800);
  expect(await replies[1]).toMatchObject({ error: textOf(1_000), ...timedOut });
  expect(await replies[2]).toMatchObject({ error: textOf(1_000), ...timedOut });
});

test('CALL-12: a default above the maximum is bounded by it', async () => {
  await using hub = await startTestHub({ limits: { callTimeoutMs: 1_000, maxCallTimeoutMs: 1_000 } });
  const { server, caller } = await remoteWith(hub);
  caller.send({ action: 'remote-call', body: { remotename: 'x', function: 'f', timeoutMs: 1_001 } });
  expect(await server.next('remote-call')).toMatchObject({ timeoutMs: 1_000 });
});

test('CALL-14: progress restarts the timeout, and silence after it ends the call', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const { server, caller } = await remoteWith(hub);
  const reply = caller.call('x', 'f', {}, { timeoutMs: 1_000 });
  await server.next('remote-call');

  for (let n = 0; n < 10; n += 1) {
    await clock.advance(999);
    server.send({ action: 'remote-call-progress', requestId: 'x#0', progress: n });
    expect(await caller.next('remote-call-progress')).toMatchObject({ progress: n });
  }
  await clock.advance(999);
  expect(hub.hub.counts().pendingCalls).toBe(1);
  await clock.advance(1);
  expect(await reply).toMatchObject({ error: textOf(1_000), ...timedOut });
});

test('CALL-14: progress never extends a call past the maximum from its start', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub({ limits: { maxCallTimeoutMs: 2_500, callTimeoutMs: 1_000 } });
  const { server, caller } = await remoteWith(hub);
  const reply = caller.call('x', 'f');
  await server.next('remote-call');

  for (const ms of [900, 900, 600]) {
    await clock.advance(ms);
    server.send({ action: 'remote-call-progress', requestId: 'x#0' });
    expect(await caller.next('remote-call-progress')).toMatchObject({ progress: null });
  }
  await clock.advance(99);
  expect(hub.hub.counts().pendingCalls).toBe(1);
  await clock.advance(1);
  expect(await reply).toMatchObject({ error: textOf(2_500), ...timedOut });
});

test('CALL-14: progress of unknown, foreign and ended calls extends nothing and is ignored', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const { server, caller } = await remoteWith(hub);
  const sibling = await hub.connect({ v1: true });
  await sibling.serve('y', ['f']);
  const reply = caller.call('x', 'f', {}, { timeoutMs: 1_000 });
  await server.next('remote-call');

  await clock.advance(999);
  for (const requestId of ['x#1', 'y#0', 0, null, undefined]) {
    server.send({ action: 'remote-call-progress', requestId, progress: 1 });
  }
  sibling.send({ action: 'remote-call-progress', requestId: 'x#0', progress: 1 });
  await Promise.all([server.settle(), sibling.settle()]);
  await clock.advance(1);
  expect(await reply).toMatchObject(timedOut);
  server.send({ action: 'remote-call-progress', requestId: 'x#0', progress: 'too late' });
  await server.settle();
  await caller.settle();
  expect(caller.others).toEqual([]);
  expect(hub.hub.counts().ignoredMessages).toBe(7);
});

test('K029: an answer after the timeout is ignored', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const { server, caller } = await remoteWith(hub);
  const reply = caller.call('x', 'f');
  await server.next('remote-call');

  await clock.advance(30_000);
  expect(await reply).toMatchObject(timedOut);
  await clock.advance(1_000);
  server.send({ action: 'remote-call-result', requestId: 'x#0', result: 'late' });
  server.send({ action: 'remote-call-result', requestId: 'x#0', error: 'late' });
  await server.settle();
  await caller.settle();
  expect([...caller.replies, ...caller.others]).toEqual([]);
  expect(hub.logs.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  const next = caller.call('x', 'f');
  await server.answer('alive');
  expect(await next).toMatchObject({ result: 'alive' });
});
