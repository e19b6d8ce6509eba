import { expect, test } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { onOneNode, startTestHub } from '../../support/hub.js';
import { answer, logIn, lose, lost, lostPair, serve, start } from './resuming-fixtures.js';

test('CALL-24: calls that nobody comes back for fail after resumeMs and not before', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub, 10_000);
  await serve(serving, 'y', 20_000);
  const calls = [await start(caller, serving), await start(caller, serving, 'y')];
  await lose(serving, caller);
  await clock.advance(9_999);
  expect(hub.hub.counts().pendingCalls).toBe(2);
  await clock.advance(1);
  expect(await calls[0]?.reply).toMatchObject({ ...lost, requestId: 'x#0' });
  await clock.advance(9_999);
  expect(hub.hub.counts()).toMatchObject({ pendingCalls: 1, providers: 1 });
  await clock.advance(1);
  expect(await calls[1]?.reply).toMatchObject({ code: 'remote-disconnected', requestId: 'y#0' });
  expect(hub.hub.counts()).toMatchObject({ pendingCalls: 0, providers: 0, remotes: 0 });
});

test('CALL-24: an instance that comes back after resumeMs resumes nothing, and its answers are ignored', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub, 10_000);
  const { requestId, reply } = await start(caller, serving);
  await lose(serving, caller);
  await clock.advance(10_000);
  await reply;
  const { session, reply: login } = await logIn(hub);
  expect(login).not.toHaveProperty('resumed');
  answer(session, requestId, 'late');
  await serve(session, 'x');
  answer(session, requestId, 'late');
  await session.settle();
  await caller.settle();
  expect(caller.replies).toEqual([]);
  expect(hub.hub.counts().ignoredMessages).toBe(2);
});

// on two nodes: `session-opened` waits for the events of the other nodes
onOneNode(
  'CALL-24: a deadline earlier than resumeMs ends the call, and the instance that comes back is told',
  async () => {
    using clock = fakeClock();
    await using hub = await startTestHub();
    const { serving, caller } = await lostPair(hub, 10_000);
    const { requestId, reply } = await start(caller, serving, 'x', { timeoutMs: 4_000 });
    await lose(serving, caller);
    await clock.advance(4_000);
    expect(await reply).toMatchObject({ code: 'call-timeout', executed: 'unknown', requestId });
    const { session, reply: login } = await logIn(hub);
    expect(login).toMatchObject({ resumed: true });
    expect(await session.next()).toEqual({ action: 'remote-call-cancel', requestId, reason: 'call-timeout' });
    // after the login reply and session-opened
    const kinds = session.frames.map((frame) => (JSON.parse(frame) as Record<string, unknown>)['action']);
    expect(kinds).toEqual([undefined, 'session-opened', 'remote-call-cancel']);
  },
);

test('CALL-24: a call that its caller cancels, or leaves, is told to the instance that comes back', async () => {
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub);
  const leaving = await hub.connect();
  const cancelled = await start(caller, serving);
  const left = await start(leaving, serving).then(({ requestId, reply }) => {
    reply.catch(() => undefined);
    return requestId;
  });
  const kept = await start(caller, serving);
  await lose(serving, caller);
  leaving.socket.terminate();
  await eventually(() => hub.hub.counts().pendingCalls === 2, 'the end of the call that was left');
  expect(await caller.request('remote-call-cancel', { nonce: 't1' })).toMatchObject({ cancelled: 1 });
  expect(await cancelled.reply).toMatchObject({ code: 'call-cancelled', executed: 'unknown' });

  const { session } = await logIn(hub);
  const told = [await session.next(), await session.next()];
  expect(told).toEqual([
    { action: 'remote-call-cancel', requestId: left, reason: 'caller-gone' },
    { action: 'remote-call-cancel', requestId: cancelled.requestId, reason: 'call-cancelled' },
  ]);
  answer(session, cancelled.requestId, 'too late');
  answer(session, kept.requestId, 1);
  expect(await kept.reply).toMatchObject({ result: 1 });
  expect(hub.hub.counts().ignoredMessages).toBe(1);
});

// on two nodes: the clock of the test does not wait for what one node tells the other
onOneNode(
  'CALL-24: after a resumption calls wait for their own deadlines alone, and for resumeMs after a second loss',
  async () => {
    using clock = fakeClock();
    await using hub = await startTestHub();
    const { serving, caller } = await lostPair(hub, 1_000);
    const { requestId, reply } = await start(caller, serving);
    const answered = await start(caller, serving);
    serving.socket.terminate();
    await caller.event('remote-disconnected');
    await clock.advance(999);
    const { session } = await logIn(hub);
    await clock.advance(5_000);
    expect(hub.hub.counts().pendingCalls).toBe(2);
    answer(session, answered.requestId, 1);
    expect(await answered.reply).toMatchObject({ result: 1 });

    session.socket.terminate();
    await eventually(() => hub.hub.counts().sessions === 1, 'the second loss');
    await clock.advance(999);
    const { session: third, reply: login } = await logIn(hub);
    expect(login).toMatchObject({ resumed: true });
    third.socket.terminate();
    await eventually(() => hub.hub.counts().sessions === 1, 'the third loss');
    await clock.advance(999);
    expect(hub.hub.counts().pendingCalls).toBe(1);
    await clock.advance(1);
    expect(await reply).toMatchObject({ ...lost, requestId });
    expect(hub.hub.counts()).toMatchObject({ providers: 0, pendingCalls: 0 });
  },
);

// on two nodes: the node of the caller closes too, and does not know the id that the serving session was asked with
onOneNode('CALL-24: calls that wait fail as shutting-down when the hub closes', async () => {
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub);
  const { requestId, reply } = await start(caller, serving);
  await lose(serving, caller);
  await hub.hub.close();
  expect(await reply).toMatchObject({ code: 'shutting-down', executed: 'unknown', requestId });
  expect(hub.hub.counts()).toMatchObject({ providers: 0, pendingCalls: 0 });
});
