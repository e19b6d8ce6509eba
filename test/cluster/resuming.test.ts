import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { redisNote, redisPath } from '../support/redis.js';
import { answer, instanceId, logIn, lose, lost, serve, start } from '../server/calls/resuming-fixtures.js';
import { comeBack, mortalNode, startLost } from './resuming-nodes.js';

const cluster = test.skipIf(redisPath === undefined);

cluster(
  `CLUSTER-08: a call in flight is answered by its instance that came back on another node, once${redisNote}`,
  async () => {
    await using stage = await startLost();
    const { nodes, serving, caller, requestId, reply } = stage;
    await lose(serving, caller);
    expect(await caller.call('x', 'f')).toMatchObject({ code: 'remote-not-connected' });

    const session = await comeBack(nodes, 1);
    answer(session, requestId, 'first');
    answer(session, requestId, 'second');
    expect(await reply).toEqual({ result: 'first', nonce: 't1' });
    await session.settle();
    await eventually(() => nodes.node(0).hub.counts().ignoredMessages === 1, 'the second answer is ignored');
    expect(nodes.node(0).hub.counts()).toMatchObject({ pendingCalls: 0, providers: 0 });
    expect(caller.replies).toEqual([]);

    await serve(session, 'x', 10_000);
    const next = await start(caller, session);
    expect(next.requestId).toBe('x#1');
    answer(session, next.requestId, 'of its own');
    expect(await next.reply).toMatchObject({ result: 'of its own' });
  },
);

cluster(
  'CLUSTER-08: a session that has only moved, without being lost, takes its calls with it',
  async () => {
    await using stage = await startLost();
    const session = await comeBack(stage.nodes, 1);
    expect(await stage.serving.end()).toMatchObject({ code: 4409 });
    answer(session, stage.requestId, 1);
    expect(await stage.reply).toMatchObject({ result: 1 });
  },
);

cluster(
  'CLUSTER-08: an instance that comes back to its first node, by way of another, has its calls there',
  async () => {
    await using stage = await startLost();
    const { nodes, serving, caller, requestId, reply } = stage;
    await lose(serving, caller);
    const second = await comeBack(nodes, 1);
    second.socket.terminate();
    await eventually(() => nodes.node(1).hub.counts().sessions === 0, 'it is lost again');
    const third = await comeBack(nodes, 0);
    answer(third, requestId, 1);
    expect(await reply).toMatchObject({ result: 1 });
    await serve(third, 'x');
    expect((await start(caller, third)).requestId).toBe('x#1');
  },
);

cluster('CLUSTER-08: progress and errors come over the other node as well', async () => {
  await using stage = await startLost();
  const { nodes, serving, caller, requestId, reply } = stage;
  await lose(serving, caller);
  const session = await comeBack(nodes, 1);
  session.send({ action: 'remote-call-progress', requestId, progress: { half: true } });
  expect(await caller.next('remote-call-progress')).toMatchObject({ progress: { half: true } });
  session.send({ action: 'remote-call-result', requestId, error: 'no luck', executed: 'no' });
  expect(await reply).toMatchObject({ error: 'no luck', code: 'function-failed', executed: 'no', requestId });
});

cluster(
  'CLUSTER-08: an instance is told of a call that was cancelled while it was away, and after',
  async () => {
    await using stage = await startLost();
    const { nodes, serving, caller, requestId, reply } = stage;
    const later = await start(caller, serving);
    await lose(serving, caller);
    expect(await caller.request('remote-call-cancel', { nonce: 't1' })).toMatchObject({ cancelled: 1 });
    expect(await reply).toMatchObject({ code: 'call-cancelled' });

    const session = await comeBack(nodes, 1);
    expect(await session.next('remote-call-cancel')).toMatchObject({ requestId, reason: 'call-cancelled' });
    const order = session.frames.map((frame) => (JSON.parse(frame) as Record<string, unknown>)['action']);
    expect(order.indexOf('remote-call-cancel')).toBeGreaterThan(order.indexOf(undefined));
    expect(await caller.request('remote-call-cancel', { nonce: 't2' })).toMatchObject({ cancelled: 1 });
    expect(await later.reply).toMatchObject({ code: 'call-cancelled' });
    expect(await session.next('remote-call-cancel')).toMatchObject({ requestId: later.requestId });
  },
);

cluster('CLUSTER-08: no other instance and no other user can answer from another node', async () => {
  await using stage = await startLost();
  const { nodes, serving, caller, requestId, reply } = stage;
  await lose(serving, caller);
  for (const login of [{ instanceId: `${instanceId}x` }, { user: 'u2' }, { instanceId: undefined }]) {
    const { session, reply: told } = await logIn(nodes.node(1), login);
    expect(told).not.toHaveProperty('resumed');
    answer(session, requestId, 'a lie');
    await session.settle();
  }
  answer(caller, requestId, 'a lie');
  answer(await comeBack(nodes, 1), requestId, 'true');
  expect(await reply).toMatchObject({ result: 'true' });
});

cluster('CLUSTER-08: calls that nobody comes back for fail after resumeMs', async () => {
  await using stage = await startLost({}, 400);
  const { nodes, serving, caller, requestId, reply } = stage;
  const lostAt = performance.now();
  await lose(serving, caller);
  expect(await reply).toMatchObject({ ...lost, requestId });
  expect(performance.now() - lostAt).toBeGreaterThan(390);
  expect(nodes.node(0).hub.counts()).toMatchObject({ pendingCalls: 0, providers: 0 });
  const { session, reply: told } = await logIn(nodes.node(1));
  expect(told).not.toHaveProperty('resumed');
  answer(session, requestId, 'late');
  await session.settle();
  expect(caller.replies).toEqual([]);
});

cluster('CLUSTER-08: an instance that leaves in order answers no more: its calls fail at once', async () => {
  await using stage = await startLost();
  const { nodes, serving, caller, requestId, reply } = stage;
  await lose(serving, caller);
  const session = await comeBack(nodes, 1);
  await session.close();
  expect(await reply).toMatchObject({ ...lost, requestId });
});

cluster(
  'CLUSTER-08: when the node that waits for the answer dies, its callers are told within seconds',
  async () => {
    await using mortal = mortalNode(0);
    await using stage = await startLost({ urlOf: mortal.urlOf });
    const { nodes, serving, caller, requestId, reply } = stage;
    await lose(serving, caller);
    const session = await comeBack(nodes, 1);

    const diedAt = performance.now();
    mortal.die();
    expect(await reply).toMatchObject({ code: 'remote-disconnected', executed: 'unknown', retryable: false });
    expect(performance.now() - diedAt).toBeLessThan(6_000);
    answer(session, requestId, 'late');
    await session.settle();
    await caller.settle();
    expect(caller.replies).toEqual([]);
  },
);
