import { expect, test } from 'vitest';
import { answer, lose, serve, start } from '../server/calls/resuming-fixtures.js';
import { eventually } from '../support/eventually.js';
import { redisNote, redisPath } from '../support/redis.js';
import { comeBack, mortalNode, startLost } from './resuming-nodes.js';

const cluster = test.skipIf(redisPath === undefined);

cluster(
  `CLUSTER-08: an instance that moves on to a third node has the calls of both before${redisNote}`,
  async () => {
    await using stage = await startLost();
    const { nodes, serving, caller, requestId, reply } = stage;
    await lose(serving, caller);
    const second = await comeBack(nodes, 1);
    await serve(second, 'x', 20_000);
    await serve(second, 'y', 20_000);
    const calls = [await start(caller, second), await start(caller, second, 'y')];

    const third = await comeBack(nodes, 2);
    answer(third, requestId, 'first');
    for (const call of calls) answer(third, call.requestId, call.requestId);
    expect(await reply).toMatchObject({ result: 'first' });
    for (const call of calls) expect(await call.reply).toMatchObject({ result: call.requestId });
    await serve(third, 'x');
    expect((await start(caller, third)).requestId).toBe('x#2');
  },
);

cluster(
  'CLUSTER-08: an instance that is lost again, with calls of its own, has all of them on a third node',
  async () => {
    await using stage = await startLost({}, 2_000);
    const { nodes, serving, caller, requestId, reply } = stage;
    await lose(serving, caller);
    const second = await comeBack(nodes, 1);
    await serve(second, 'y', 20_000);
    const call = await start(caller, second, 'y');
    await lose(second, caller);

    const third = await comeBack(nodes, 2);
    answer(third, call.requestId, 'second');
    expect(await call.reply).toMatchObject({ result: 'second' });
    answer(third, requestId, 'first');
    expect(await reply).toMatchObject({ result: 'first' });
  },
);

cluster(
  'CLUSTER-08: an instance that is lost again, without calls of its own, has the others on a third node',
  async () => {
    await using stage = await startLost({}, 2_000);
    const { nodes, serving, caller, requestId, reply } = stage;
    await lose(serving, caller);
    const second = await comeBack(nodes, 1);
    second.socket.terminate();
    await eventually(() => nodes.node(1).hub.counts().sessions === 0, 'it is lost again');
    const third = await comeBack(nodes, 2);
    answer(third, requestId, 'first');
    expect(await reply).toMatchObject({ result: 'first' });
  },
);

/** The session is lost, its instance comes back on node 1, and that node dies: the others know it. */
async function dieWith(
  mortal: ReturnType<typeof mortalNode>,
  stage: Awaited<ReturnType<typeof startLost>>,
): Promise<void> {
  const { nodes, serving, caller } = stage;
  await lose(serving, caller);
  await comeBack(nodes, 1);
  mortal.die();
  await eventually(
    () => [...nodes.node(0).logs, ...nodes.node(2).logs].some(({ msg }) => msg === 'a node has died'),
    'the others notice',
  );
}

cluster('CLUSTER-08: when the node that it came back on dies, its calls wait for it once more', async () => {
  await using mortal = mortalNode(1);
  await using stage = await startLost({ urlOf: mortal.urlOf });
  await dieWith(mortal, stage);
  const session = await comeBack(stage.nodes, 0);
  answer(session, stage.requestId, 1);
  expect(await stage.reply).toMatchObject({ result: 1 });
});

cluster(
  'CLUSTER-08: when the node that it came back on dies, its calls find it on a third node',
  async () => {
    await using mortal = mortalNode(1);
    await using stage = await startLost({ urlOf: mortal.urlOf }, 4_000);
    await dieWith(mortal, stage);
    const session = await comeBack(stage.nodes, 2);
    answer(session, stage.requestId, 1);
    expect(await stage.reply).toMatchObject({ result: 1 });
  },
);
