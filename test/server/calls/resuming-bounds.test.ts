import { expect, test, vi } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { startTestHub } from '../../support/hub.js';
import { answer, instanceId, logIn, lose, lostPair, serve, start } from './resuming-fixtures.js';

test('CALL-26: a user leaves behind no more remotes than may be connected; calls of further ones fail at once', async () => {
  await using hub = await startTestHub({ limits: { maxRemotesPerUser: 2 } });
  const caller = await hub.connect();
  const stranger = await hub.connect({ user: 'u2' });
  const replies = [];
  for (const name of ['a', 'b', 'c']) {
    const { session } = await logIn(hub, { instanceId: `${instanceId} of ${name}` });
    await serve(session, name, 30_000);
    replies.push((await start(caller, session, name)).reply);
    await lose(session, caller);
  }
  expect(await replies[2]).toMatchObject({ code: 'remote-disconnected', executed: 'unknown' });
  expect(hub.hub.counts()).toMatchObject({ remotes: 0, providers: 2, pendingCalls: 2 });

  const { session: other } = await logIn(hub, { user: 'u2' });
  await serve(other, 'a', 30_000);
  await start(stranger, other, 'a');
  await lose(other, stranger);
  expect(hub.hub.counts().pendingCalls).toBe(3);

  // there is room again once one has been answered
  const { session: back } = await logIn(hub, { instanceId: `${instanceId} of a` });
  answer(back, 'a#0', 1);
  expect(await replies[0]).toMatchObject({ result: 1 });
  await serve(back, 'a', 30_000);
  await start(caller, back, 'a');
  await lose(back, caller);
  expect(hub.hub.counts()).toMatchObject({ providers: 3, pendingCalls: 3 });
});

test('CALL-26: what a user leaves behind is bounded by the size of its tools, too', async () => {
  const tools = [{ name: 'f', description: 'd'.repeat(600) }];
  await using hub = await startTestHub({ limits: { maxToolsBytesPerUser: 1_100 } });
  const caller = await hub.connect();
  const replies = [];
  for (const name of ['a', 'b']) {
    const { session } = await logIn(hub, { instanceId: `${instanceId} of ${name}` });
    await session.request('remote-connect', { remotename: name, tools, resumeMs: 30_000 });
    replies.push((await start(caller, session, name)).reply);
    await lose(session, caller);
  }
  expect(await replies[1]).toMatchObject({ code: 'remote-disconnected' });
  expect(hub.hub.counts()).toMatchObject({ providers: 1, pendingCalls: 1 });
});

test('CALL-26: calls that wait count among those in flight, and old remotes not among those that the session serves', async () => {
  await using hub = await startTestHub({ limits: { maxCallsInFlight: 2, maxRemotesPerSession: 1 } });
  const { serving, caller } = await lostPair(hub);
  const other = await hub.connect();
  await start(caller, serving);
  await start(caller, serving);
  await lose(serving, caller);
  expect(await caller.call('y', 'f')).toMatchObject({
    error: expect.stringContaining('this session has 2') as unknown,
  });
  const { session } = await logIn(hub);
  expect(await serve(session, 'x')).toMatchObject({ message: 'remote connected' });
  expect(await other.call('x', 'f')).toMatchObject({ code: 'too-many-calls', retryable: true });
  answer(session, 'x#0', null);
  await session.settle();
  expect((await start(other, session)).requestId).toBe('x#2');
});

test('CALL-26: losses, resumptions and losses for good leave nothing in the hub', async () => {
  using clock = fakeClock();
  await using hub = await startTestHub();
  const idle = vi.getTimerCount();
  for (const isBack of [true, false, true, false]) {
    const { serving, caller } = await lostPair(hub, 1_000);
    await serve(serving, 'y', 2_000);
    const calls = [await start(caller, serving), await start(caller, serving, 'y')];
    await lose(serving, caller);
    await clock.advance(isBack ? 500 : 2_000);
    if (isBack) {
      const { session } = await logIn(hub);
      for (const { requestId } of calls) answer(session, requestId, 1);
      await Promise.all(calls.map(async ({ reply }) => reply));
      await session.close();
    }
    await caller.close();
    await hub.idle();
    expect(hub.hub.counts()).toMatchObject({ providers: 0, callers: 0, remotes: 0 });
    // but the one of all deadlines, which runs once more for nothing
    await eventually(() => vi.getTimerCount() <= idle + 1, 'the end of every timer');
  }
});
