import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { startTestHub } from '../../support/hub.js';
import { answer, instanceId, logIn, lose, lostPair, serve, start } from './resuming-fixtures.js';

test('CALL-22: a call in flight at the loss of its session is answered by the same instance, once', async () => {
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub);
  const { requestId, reply } = await start(caller, serving);
  await lose(serving, caller);
  expect(await caller.remotes()).toEqual([]);
  expect(await caller.call('x', 'f')).toMatchObject({ code: 'remote-not-connected' });
  expect(hub.hub.counts()).toMatchObject({ sessions: 1, remotes: 0, providers: 1, pendingCalls: 1 });

  const { session, reply: login } = await logIn(hub);
  expect(login).toMatchObject({ message: 'authenticated', resumed: true });
  answer(session, requestId, 'first');
  answer(session, requestId, 'second');
  expect(await reply).toEqual({ result: 'first', nonce: 't1' });
  await session.settle();
  expect(hub.hub.counts()).toMatchObject({ ignoredMessages: 1, providers: 0, pendingCalls: 0 });
  await caller.settle();
  expect(caller.replies).toEqual([]);
});

test('CALL-22: it may answer with an error or progress as before, and calls that the new session is asked are its own', async () => {
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub);
  const calls = [await start(caller, serving), await start(caller, serving), await start(caller, serving)];
  await lose(serving, caller);
  const { session } = await logIn(hub);
  await serve(session, 'x', 10_000);
  const newer = await start(caller, session);
  expect(newer.requestId).toBe('x#3');

  session.send({ action: 'remote-call-result', requestId: 'x#1', error: 'no luck', executed: 'no' });
  session.send({ action: 'remote-call-progress', requestId: 'x#2', progress: 'half' });
  expect(await calls[1]?.reply).toMatchObject({ error: 'no luck', executed: 'no', requestId: 'x#1' });
  expect(await caller.next('remote-call-progress')).toMatchObject({ progress: 'half' });
  for (const requestId of ['x#3', 'x#2', 'x#0']) answer(session, requestId, requestId);
  expect(await calls[0]?.reply).toMatchObject({ result: 'x#0' });
  expect(await calls[2]?.reply).toMatchObject({ result: 'x#2' });
  expect(await newer.reply).toMatchObject({ result: 'x#3' });
});

test('CALL-22: an instance that logs in at the upgrade takes its calls over, too', async () => {
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub);
  const { requestId, reply } = await start(caller, serving);
  await lose(serving, caller);
  const session = await hub.connect({ instanceId });
  answer(session, requestId, 1);
  expect(await reply).toMatchObject({ result: 1 });
});

test('CALL-22: no other instance, other user or session without an instance can answer', async () => {
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub);
  const { requestId, reply } = await start(caller, serving);
  await lose(serving, caller);
  const others = [
    await logIn(hub, { instanceId: `${instanceId}x` }),
    await logIn(hub, { user: 'u2' }),
    await logIn(hub, { instanceId: undefined }),
  ];
  for (const { session, reply: login } of others) {
    expect(login).not.toHaveProperty('resumed');
    await serve(session, 'y', 10_000);
    answer(session, requestId, 'a lie');
    session.send({ action: 'remote-call-progress', requestId, progress: 'a lie' });
    await session.settle();
    await session.close();
  }
  answer(caller, requestId, 'a lie');
  await caller.settle();
  expect(hub.hub.counts()).toMatchObject({ ignoredMessages: 7, pendingCalls: 1 });
  answer((await logIn(hub)).session, requestId, 'true');
  expect(await reply).toMatchObject({ result: 'true' });
  expect(caller.others).toEqual([]);
});

test('CALL-22: of two remotes only the calls of that with resumeMs wait', async () => {
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub);
  await serve(serving, 'y');
  await serve(serving, 'z', 0);
  const waiting = await start(caller, serving);
  const failing = [await start(caller, serving, 'y'), await start(caller, serving, 'z')];
  serving.socket.terminate();
  for (const { requestId, reply } of failing) {
    expect(await reply).toMatchObject({ code: 'remote-disconnected', executed: 'unknown', requestId });
  }
  const { session } = await logIn(hub);
  for (const { requestId } of failing) answer(session, requestId, 'too late');
  answer(session, waiting.requestId, 1);
  expect(await waiting.reply).toMatchObject({ result: 1 });
  await session.settle();
  expect(hub.hub.counts().ignoredMessages).toBe(2);
});

test('CALL-22: the name is free at once, and another session that takes it changes nothing for the calls', async () => {
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub);
  const old = await start(caller, serving);
  await lose(serving, caller);
  expect(await serve(caller, 'x')).toMatchObject({ message: 'remote connected' });
  const own = await start(caller, caller);

  const { session } = await logIn(hub);
  expect(own.requestId).toBe(old.requestId); // both x#0, each in its own session
  answer(session, old.requestId, 'old');
  answer(caller, own.requestId, 'own');
  expect(await old.reply).toMatchObject({ result: 'old' });
  expect(await own.reply).toMatchObject({ result: 'own' });
  expect(await serve(session, 'x')).toMatchObject({ code: 'remote-already-connected' });
});

test('CALL-22: the calls of a draining remote wait as well', async () => {
  await using hub = await startTestHub();
  const { serving, caller } = await lostPair(hub);
  const { requestId, reply } = await start(caller, serving);
  await caller.request('remote-disconnect', { remotename: 'x', drain: true });
  await caller.event('remote-disconnected');
  serving.socket.terminate();
  await eventually(() => hub.hub.counts().sessions === 1, 'the loss');
  expect(hub.hub.counts()).toMatchObject({ providers: 1, pendingCalls: 1 });
  answer((await logIn(hub)).session, requestId, 1);
  expect(await reply).toMatchObject({ result: 1 });
  expect(caller.events.map(({ action }) => action)).toEqual(['session-opened']);
});
