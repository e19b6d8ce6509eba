import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import type { RedisBackplane } from '../../server/src/cluster/redis-backplane.js';
import { JsonText } from '../../server/src/json/json-text.js';
import { eventually } from '../support/eventually.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { RedisServer, redisNote, redisPath } from '../support/redis.js';
import { LONG_LEASE_MS, claimOf, joinRedis, roomy, type Joined } from './backplane-fixtures.js';
import { until } from './until.js';

const cluster = test.skipIf(redisPath === undefined);

/** Two backplanes on one Redis. */
async function joinTwo(leaseMs?: number) {
  const redis = await RedisServer.start();
  const options = { url: redis.url, ...(leaseMs !== undefined && { leaseMs }) };
  const [one, two] = [await joinRedis(options), await joinRedis(options)];
  return {
    redis,
    one: one.backplane,
    two: two.backplane,
    nodes: [one.node, two.node] as const,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([one, two].map(async (joined) => joined[Symbol.asyncDispose]()));
      await redis[Symbol.asyncDispose]();
    },
  };
}

/** Two backplanes, the first of which can be cut off from Redis. */
async function joinBehindProxy() {
  const redis = await RedisServer.start();
  const proxy = await FaultProxy.start(redis.url);
  const one = await joinRedis({ url: proxy.url });
  const two = await joinRedis({ url: redis.url });
  const [id] = [one.backplane.nodeId];
  return {
    redis,
    one,
    two,
    id,
    cut: () => {
      proxy.isDown = true;
      proxy.cut();
    },
    mend: async (joined: Joined) => {
      proxy.isDown = false;
      await eventually(() => joined.backplane.isReady, 'it has joined again');
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([one, two].map(async (joined) => joined[Symbol.asyncDispose]()));
      await proxy[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}

/** The fields of the hash that holds a user's names. */
async function fieldsOf(redis: RedisServer, suffix: string): Promise<string> {
  const keys = await redis.command('KEYS *');
  const key = new RegExp(`^test:user:.*:${suffix}$`, 'mu').exec(keys)?.[0];
  return key === undefined ? '' : redis.command(`HGETALL ${key}`);
}

/** Waits for the next heartbeat of a node. */
async function heartbeatOf(redis: RedisServer, nodeId: string): Promise<void> {
  const client = new Redis(redis.url);
  let isHeard = false;
  client.on('smessage', (_channel, heartbeat: string) => (isHeard ||= heartbeat.startsWith(nodeId)));
  await client.ssubscribe('test:heartbeats');
  await eventually(() => isHeard, 'a heartbeat');
  client.disconnect();
}

async function holderId(backplane: RedisBackplane, remotename = 'x'): Promise<string | undefined> {
  return (await backplane.find('u1', remotename))?.id;
}

cluster(`CLUSTER-01: a claim of a name that is held tells who holds it${redisNote}`, async () => {
  await using both = await joinTwo(LONG_LEASE_MS);
  const { one, two } = both;
  const claim = claimOf({
    timeouts: new Map([
      ['f', 5],
      ['__proto__', 7],
    ]),
  });
  await one.claim(claim, roomy);
  const later = claimOf();
  expect(await two.claim(later, roomy)).toEqual({
    remotename: 'x',
    nodeId: one.nodeId,
    id: claim.id,
    at: claim.at,
    timeouts: claim.timeouts,
  });
  expect(later).not.toHaveProperty('at');
  expect(await one.claim(claimOf(), roomy)).toMatchObject({ nodeId: one.nodeId, id: claim.id });
  expect(await two.claim(claimOf({ userId: 'u2' }), roomy)).toBeUndefined();
});

cluster(
  'CLUSTER-01: other nodes find and list a name, with its function specs as they were connected',
  async () => {
    await using both = await joinTwo(LONG_LEASE_MS);
    const { one, two } = both;
    const tools = [new JsonText('[ 1e400 ]'), new JsonText('["é\u2028 \\ud800"]'), new JsonText('[]')];
    const claims = tools.map((text, index) => claimOf({ remotename: `n${index}`, tools: text }));
    for (const claim of claims) await one.claim(claim, roomy);
    await two.claim(claimOf({ remotename: 'of two' }), roomy);

    for (const [index, claim] of claims.entries()) {
      const holder = await two.find('u1', claim.remotename);
      expect(holder).toMatchObject({
        remotename: claim.remotename,
        nodeId: one.nodeId,
        id: claim.id,
        at: claim.at,
      });
      expect(holder && (await two.toolsOf('u1', holder))?.text).toBe(tools[index]?.text);
    }
    const listed = await two.list('u1');
    const inOrder = listed.toSorted((first, second) => first.at - second.at);
    expect(inOrder.map(({ remotename, tools: { text } }) => [remotename, text])).toEqual(
      claims.map(({ remotename, tools: { text } }) => [remotename, text]),
    );
    expect((await one.list('u1')).map(({ remotename }) => remotename)).toEqual(['of two']);
    expect(await two.list('u2')).toEqual([]);
  },
);

cluster(
  'CLUSTER-01: a holder that is to be replaced loses the name, and giving it back takes nothing',
  async () => {
    await using both = await joinTwo(LONG_LEASE_MS);
    const { one, two } = both;
    const [first, second] = [claimOf(), claimOf()];
    await one.claim(first, roomy);
    const holder = await two.claim(second, roomy);
    if (holder === undefined) throw new Error('the name was free');
    for (const wrong of [
      { ...holder, id: randomUUID() },
      { ...holder, nodeId: two.nodeId },
    ]) {
      expect(await two.claim(second, roomy, wrong)).toMatchObject({ id: first.id });
    }
    expect(await two.claim(second, roomy, holder)).toBeUndefined();
    await one.release(first);
    expect(await holderId(one)).toBe(second.id);
    expect(await two.find('u1', 'x')).toBeUndefined();
    await two.release(second);
    expect(await fieldsOf(both.redis, '(?:remotes|tools)')).toBe('');
  },
);

cluster(
  "CLUSTER-02: a connection of the holder's instance takes its name, one of another user's does not",
  async () => {
    await using both = await joinTwo(LONG_LEASE_MS);
    const { one, two } = both;
    const [first, second] = [claimOf({ instanceKey: 'i' }), claimOf({ instanceKey: 'i' })];
    await one.claim(first, roomy);
    for (const instanceKey of ['j', undefined]) {
      expect(await two.claim(claimOf({ instanceKey }), roomy)).toMatchObject({ id: first.id });
    }
    expect(await two.claim(second, roomy)).toBeUndefined();
    await one.release(first);
    expect(await holderId(one)).toBe(second.id);
  },
);

cluster(
  'CLUSTER-01: the bounds of a user hold for all nodes, and what is replaced counts no more',
  async () => {
    await using both = await joinTwo(LONG_LEASE_MS);
    const { one, two } = both;
    const limits = { maxRemotesPerUser: 2, maxToolsBytesPerUser: 20 };
    const tools = new JsonText('"éééé"'); // ten bytes
    const first = claimOf({ remotename: 'a', tools, instanceKey: 'i' });
    await one.claim(first, limits);
    await expect(
      two.claim(claimOf({ remotename: 'b', tools: new JsonText('"éééé" ') }), limits),
    ).rejects.toMatchObject({
      code: 'too-many-remotes',
      message: 'the functions of all remotes together would pass 20 bytes',
    });
    expect(await two.claim(claimOf({ remotename: 'b', tools }), limits)).toBeUndefined();
    await expect(two.claim(claimOf({ remotename: 'c' }), limits)).rejects.toMatchObject({
      code: 'too-many-remotes',
      message: '2 remotes are connected, the most a user may have',
    });
    expect(await two.claim({ ...first, id: randomUUID() }, limits)).toBeUndefined();
    expect(await two.claim(claimOf({ userId: 'u2', tools }), limits)).toBeUndefined();
  },
);

cluster('CLUSTER-03: the names of a node whose lease has ended are told, and free', async () => {
  await using both = await joinBehindProxy();
  const { one, two, id } = both;
  for (const claim of [claimOf(), claimOf({ remotename: 'y' }), claimOf({ userId: 'u2' })]) {
    await one.backplane.claim(claim, roomy);
  }
  await one.backplane.moveInstance('u1', 'i', 's');
  one.backplane.awaitInstance('u1', 'i');
  one.backplane.keepRun('u1', 'r', 60_000);
  await until(async () => (await two.backplane.findRun('u1', 'r')) === id, 'the run is known');
  expect(await two.backplane.isAlive(id)).toBe(true);

  both.cut();
  await eventually(() => two.node.remotes.length === 2, 'the ends of the names are told');
  expect(one.node.cuts).toBe(1);
  expect(two.node.gone).toContain(id);
  const told = two.node.remotes.map(({ userId, remotenames }) => [userId, remotenames.toSorted().join()]);
  expect(new Map(told.map(([userId = '', names]) => [userId, names]))).toEqual(
    new Map([
      ['u1', 'x,y'],
      ['u2', 'x'],
    ]),
  );
  expect(await two.backplane.isAlive(id)).toBe(false);
  expect(await two.backplane.find('u1', 'x')).toBeUndefined();
  expect(await two.backplane.list('u1')).toEqual([]);
  expect(await two.backplane.findRun('u1', 'r')).toBeUndefined();
  expect(await two.backplane.moveInstance('u1', 'i', 's2')).toEqual([]);
  expect(await two.backplane.claim(claimOf(), roomy)).toBeUndefined();
  await expect(one.backplane.claim(claimOf({ remotename: 'z' }), roomy)).rejects.toMatchObject({
    code: 'backplane-unavailable',
  });
});

// what others clear away of the dead node must not be what it has written anew
cluster('CLUSTER-03: a node whose lease ended while it was cut off comes back under another id', async () => {
  await using both = await joinBehindProxy();
  const { one, two, id } = both;
  both.cut();
  await eventually(() => two.node.gone.includes(id), 'it is taken for dead');
  await both.mend(one);
  expect(one.backplane.nodeId).not.toBe(id);
});

cluster(
  'CLUSTER-05: a node that was cut off for less than its lease keeps its id and names; what was on its way is lost',
  async () => {
    await using both = await joinBehindProxy();
    const { one, two, id } = both;
    const claim = claimOf();
    one.node.held.push(claim);
    await one.backplane.claim(claim, roomy);
    await until(async () => (await holderId(two.backplane)) === claim.id, 'the name is there');
    await heartbeatOf(both.redis, id);

    both.cut();
    await both.mend(one);
    expect(one.backplane.nodeId).toBe(id);
    await eventually(() => two.node.gone.includes(id), 'the others learn that what they sent it is lost');
    expect(two.node.remotes).toEqual([]);
    expect(await holderId(two.backplane)).toBe(claim.id);
    expect(one.node.overruledIds).toEqual([]);
  },
);

cluster(
  'CLUSTER-05: a name that was given back while Redis was away is free when it is there again',
  async () => {
    await using both = await joinBehindProxy();
    const { one, two } = both;
    const claim = claimOf();
    await one.backplane.claim(claim, roomy);
    both.cut();
    await eventually(() => one.node.cuts === 1, 'it was cut off');
    await one.backplane.release(claim);
    await both.mend(one);
    await heartbeatOf(both.redis, one.backplane.nodeId);
    expect(await two.backplane.list('u1')).toEqual([]);
  },
);

cluster(
  'CLUSTER-05: after Redis has lost its data the earlier of two claims stands, whoever is back first',
  async () => {
    await using both = await joinTwo();
    const { one, two, nodes } = both;
    const earlier = claimOf();
    nodes[0].held.push(earlier);
    await one.claim(earlier, roomy);
    const ids = [one.nodeId, two.nodeId];
    await both.redis.command('FLUSHALL');
    const later = claimOf();
    nodes[1].held.push(later);
    expect(await two.claim(later, roomy)).toBeUndefined();
    expect(later.at).toBeGreaterThan(earlier.at ?? Infinity);

    const isTold = (): boolean =>
      nodes[1].overruledIds.includes(later.id) ||
      nodes[1].messages.some(({ message: { head } }) => head[0] === 'overruled' && head[2] === later.id);
    await eventually(isTold, 'the later one is told');
    await eventually(() => one.isReady && two.isReady, 'both have joined again');
    expect(ids).not.toContain(one.nodeId);
    expect(await holderId(two)).toBe(earlier.id);
    expect(nodes[0].overruledIds).toEqual([]);
  },
);

cluster('CLUSTER-03: a node that leaves is gone for the others at once', async () => {
  await using both = await joinTwo(LONG_LEASE_MS);
  const { one, two, nodes } = both;
  await one.claim(claimOf(), roomy);
  const { nodeId } = one;
  await one[Symbol.asyncDispose]();
  await eventually(() => nodes[1].gone.includes(nodeId), 'the others are told');
  expect(await two.isAlive(nodeId)).toBe(false);
  expect(await two.find('u1', 'x')).toBeUndefined();
  expect(await both.redis.command('KEYS *node*')).not.toContain(nodeId);
  expect(await both.redis.command('SMEMBERS test:nodes')).not.toContain(nodeId);
});

cluster(
  'CLUSTER-02: an instance is found on every node where it was, or where calls wait for it',
  async () => {
    await using both = await joinTwo(LONG_LEASE_MS);
    const { one, two } = both;
    expect(await one.moveInstance('u1', 'i', 's1')).toEqual([]);
    expect(await two.moveInstance('u1', 'i', 's2')).toEqual([one.nodeId]);
    one.awaitInstance('u1', 'i');
    await one.find('u1', 'nothing'); // which goes the same way, so that it has arrived
    two.leaveInstance('u1', 'i', 'another session');
    expect(await two.moveInstance('u1', 'i', 's3')).toEqual([one.nodeId]);
    two.leaveInstance('u1', 'i', 's3');
    expect(await two.moveInstance('u1', 'i', 's4')).toEqual([one.nodeId]);
    expect(await one.moveInstance('u1', 'i', 's5')).toEqual([two.nodeId]);
    for (const [user, key] of [
      ['u2', 'i'],
      ['u1', 'j'],
    ] as const) {
      expect(await two.moveInstance(user, key, 's')).toEqual([]);
    }
  },
);
