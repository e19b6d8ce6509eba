import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestHub, type TestHub } from '../support/hub.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { redisNote, redisPath } from '../support/redis.js';
import type { TestSession } from '../support/session.js';
import { LEASE_MS, isReady, untilReady } from './nodes.js';
import { until } from './until.js';

const onCluster = test.skipIf(redisPath === undefined);

let redis: RedisCluster | undefined;
beforeAll(async () => {
  if (redisPath !== undefined) redis = await RedisCluster.start();
});
afterAll(async () => redis?.[Symbol.asyncDispose]());

function masters() {
  if (redis === undefined) throw new Error('the Redis Cluster has not started');
  return redis.masters;
}

/** Two nodes on the Redis Cluster, each led to it by another master. */
async function startTwo() {
  const prefix = randomUUID();
  const start = async (index: number): Promise<TestHub> => {
    const url = masters()[index]?.url ?? '';
    const hub = await startTestHub({ redis: { url, cluster: true, prefix, leaseMs: LEASE_MS } });
    await untilReady(hub);
    return hub;
  };
  const [one, two] = [await start(0), await start(1)];
  return {
    one,
    two,
    prefix,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([one, two].map(async (hub) => hub[Symbol.asyncDispose]()));
    },
  };
}

/** A caller on one node calls a remote on the other. */
async function callAcross(caller: TestSession, serving: TestSession, remotename: string): Promise<void> {
  const reply = caller.call(remotename, 'f', { n: 1 });
  const { requestId } = await serving.next('remote-call');
  serving.send({ action: 'remote-call-result', requestId, result: requestId });
  expect(await reply).toMatchObject({ result: requestId });
}

/** How many of these keys each master has. */
async function keysPerMaster(prefix: string, suffix: string): Promise<number[]> {
  const counts = masters().map(async (master) => {
    const keys = await master.command(`KEYS ${prefix}:*:${suffix}`);
    return Number(/^\*(?<count>\d+)/u.exec(keys)?.groups?.['count']);
  });
  return Promise.all(counts);
}

/** A session on each node for each of many users, whose keys are spread over the masters. */
async function manyUsers(one: TestHub, two: TestHub, count: number) {
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const user = `user ${n}`;
      const serving = await one.connect({ user });
      const caller = await two.connect({ user });
      expect(await serving.serve('x', ['f'])).not.toHaveProperty('error');
      return { serving, caller };
    }),
  );
}

onCluster(
  `CLUSTER-11: nodes on a Redis Cluster list, call, tell events and keep names unique${redisNote}`,
  async () => {
    await using both = await startTwo();
    const [here, there] = [await both.one.connect(), await both.two.connect()];
    await here.serve('x', ['f']);
    await there.event('remote-connected');
    expect(await there.remotes()).toEqual(['x']);
    expect(await there.serve('x', ['f'])).toMatchObject({ code: 'remote-already-connected' });
    await callAcross(there, here, 'x');
    await there.serve('y', ['f']);
    await callAcross(here, there, 'y');
    expect(await there.request('remote-disconnect', { remotename: 'x' })).not.toHaveProperty('error');
    expect(await here.remotes()).toEqual(['y']);
  },
);

onCluster('CLUSTER-11: an instance takes over from another node, and has its names', async () => {
  await using both = await startTwo();
  const instanceId = 'q8Zr3kX0aW5nT7uB';
  const earlier = await both.one.connect({ instanceId });
  await earlier.serve('x', ['f']);
  const later = await both.two.connect({ instanceId });
  expect(await earlier.end()).toMatchObject({ code: 4409 });
  expect(await later.serve('x', ['f'])).toMatchObject({ message: 'remote connected' });
});

onCluster('CLUSTER-11: 50 users are spread over the masters, and each has calls and events', async () => {
  await using both = await startTwo();
  const pairs = await manyUsers(both.one, both.two, 50);
  for (const count of await keysPerMaster(both.prefix, 'remotes')) expect(count).toBeGreaterThan(4);
  await Promise.all(
    pairs.map(async ({ serving, caller }) => {
      await callAcross(caller, serving, 'x');
      await caller.event('remote-connected');
      expect(await caller.remotes()).toEqual(['x']);
    }),
  );
});

onCluster('CLUSTER-11: a node that goes takes its names with it, and leaves nothing', async () => {
  await using both = await startTwo();
  const pairs = await manyUsers(both.one, both.two, 12);
  await both.one.hub.close();
  await Promise.all(
    pairs.map(async ({ caller }) => {
      await caller.event('remote-disconnected');
      expect(await caller.remotes()).toEqual([]);
      expect(await caller.serve('x', ['f'])).not.toHaveProperty('error');
    }),
  );
  await both.two.hub.close();
  await until(
    async () => (await keysPerMaster(both.prefix, '*')).every((count) => count === 0),
    'no key is left',
  );
});

onCluster('CLUSTER-11: after a master was restarted everything works for all users again', async () => {
  await using both = await startTwo();
  const pairs = await manyUsers(both.one, both.two, 12);
  const leases = await keysPerMaster(both.prefix, 'lease');
  await masters()[leases.findIndex((count) => count > 0)]?.restart({ keepData: true });
  await allWorks(both, pairs);
});

// a node is not told that one master alone has lost what it held
onCluster(
  'CLUSTER-11: after a master was restarted without its data everything works for all users again',
  async () => {
    await using both = await startTwo();
    const pairs = await manyUsers(both.one, both.two, 12);
    // one without a lease, which would be missed
    const leases = await keysPerMaster(both.prefix, 'lease');
    await masters()[leases.indexOf(0)]?.restart({ keepData: false });
    await allWorks(both, pairs);
  },
);

onCluster('CLUSTER-11: calls that are answered while a master is away end within seconds', async () => {
  await using both = await startTwo();
  const [here, there] = [await both.one.connect(), await both.two.connect()];
  await here.serve('x', ['f']);
  await there.serve('y', ['f']);
  for (const master of masters()) {
    const calls = [there.call('x', 'f'), here.call('y', 'f')];
    const [x, y] = [await here.next('remote-call'), await there.next('remote-call')];
    await master.command('SAVE');
    await master.kill();
    here.send({ action: 'remote-call-result', requestId: x['requestId'], result: 1 });
    there.send({ action: 'remote-call-result', requestId: y['requestId'], result: 1 });
    await Promise.all([here.settle(), there.settle()]);
    await master.restart({ keepData: true });
    let ended = 0;
    for (const call of calls) void call.then(() => (ended += 1));
    await eventually(() => ended === 2, 'both have ended', 6_000);
    for (const hub of [both.one, both.two]) await until(async () => isReady(hub), 'the node is ready');
  }
});

/** Every user lists, calls and hears of what happens on the other node, in both directions, as soon as both are ready. */
async function allWorks(
  { one, two }: { one: TestHub; two: TestHub },
  pairs: readonly { serving: TestSession; caller: TestSession }[],
  patienceMs?: number,
): Promise<void> {
  await until(async () => {
    const states = await Promise.all(
      masters().map(async (master) => master.command('CLUSTER INFO').catch(String)),
    );
    return states.every((state) => state.includes('cluster_state:ok'));
  }, 'the Redis Cluster is whole');
  for (const hub of [one, two]) await until(async () => isReady(hub), 'the node is ready');
  await Promise.all(
    pairs.map(async ({ caller }) => {
      const works = async (): Promise<boolean> => {
        const { remotes } = await caller.request('remote-list');
        return JSON.stringify(remotes ?? null).includes('"x"');
      };
      await until(works, 'the remote is listed', patienceMs);
    }),
  );
  await Promise.all(
    pairs.map(async ({ serving, caller }) => {
      await callAcross(caller, serving, 'x');
      await until(async () => !('error' in (await caller.serve('y', ['f']))), 'a name is free');
      await eventually(
        () => serving.events.some(({ body }) => JSON.stringify(body).includes('"y"')),
        'the event of the other node',
      );
      await callAcross(serving, caller, 'y');
    }),
  );
}
