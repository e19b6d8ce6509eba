import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestHub } from '../support/hub.js';
import { RedisServer, redisNote, redisPath } from '../support/redis.js';
import type { Message, TestSession } from '../support/session.js';
import { LONG_LEASE_MS, joinRedis, type RecordedNode } from './backplane-fixtures.js';
import { LEASE_MS, startNodes, untilReady } from './nodes.js';

const cluster = test.skipIf(redisPath === undefined);

/** The remotes that a session was told of, in the order of the events. */
function toldOf(session: TestSession, prefix: string, action = 'remote-connected'): string[] {
  return session.events
    .filter((event) => event['action'] === action)
    .map(remoteOf)
    .filter((name) => name.startsWith(prefix));
}

function remoteOf({ body }: Message): string {
  return typeof body === 'object' && body !== null && 'remotename' in body ? String(body.remotename) : '';
}

cluster(
  `K099: 1,000 events of two senders arrive once, those of each in their order${redisNote}`,
  async () => {
    await using redis = await RedisServer.start();
    const options = { url: redis.url, leaseMs: LONG_LEASE_MS };
    await using one = await joinRedis(options);
    await using two = await joinRedis(options);
    await using three = await joinRedis(options);
    for (const { backplane } of [one, two, three]) await backplane.join('u1');
    for (let n = 0; n < 1_000; n += 1) {
      one.backplane.publish('u1', [`1 ${n}`, `1 ${n}+`]);
      two.backplane.publish('u1', [`2 ${n}`]);
      if (n % 50 === 0) await setImmediate();
    }
    const ofOne = Array.from({ length: 1_000 }, (_, n) => [`1 ${n}`, `1 ${n}+`]).flat();
    const ofTwo = Array.from({ length: 1_000 }, (_, n) => `2 ${n}`);
    const told = (node: RecordedNode, from: string): string[] =>
      node.events.flatMap(({ events }) => events).filter((event) => event.startsWith(from));
    await eventually(() => three.node.events.length === 2_000, 'all events');
    expect(told(three.node, '1')).toEqual(ofOne);
    expect(told(three.node, '2')).toEqual(ofTwo);
    await eventually(() => one.node.events.length >= 1_000 && two.node.events.length >= 1_000, 'the others');
    expect(told(one.node, '')).toEqual(ofTwo);
    expect(told(two.node, '')).toEqual(ofOne);
  },
);

cluster(
  'CLUSTER-04: events of two senders reach the sessions of all nodes once, those of each in their order',
  async () => {
    await using nodes = await startNodes({ count: 3 });
    const [one, two] = [await nodes.node(0).connect(), await nodes.node(1).connect()];
    const listeners = await Promise.all(nodes.all.map(async (hub) => hub.connect()));
    await Promise.all(
      Array.from({ length: 100 }, async (_, n) =>
        Promise.all([one.serve(`a${n}`, []), two.serve(`b${n}`, [])]),
      ),
    );
    for (const listener of [one, two, ...listeners]) {
      for (const prefix of ['a', 'b']) {
        await eventually(() => toldOf(listener, prefix).length >= 100, `events of ${prefix}`);
        expect(toldOf(listener, prefix)).toEqual(Array.from({ length: 100 }, (_, n) => `${prefix}${n}`));
      }
    }
  },
);

cluster(
  'K099: from the first second on, with users who come and go, every event arrives once and no log speaks of modes',
  async () => {
    await using redis = await RedisServer.start();
    const config = { redis: { url: redis.url, prefix: randomUUID(), leaseMs: LEASE_MS } };
    await using one = await startTestHub(config);
    await using two = await startTestHub(config);
    const [sender, listener] = [await one.connect(), await two.connect()];
    await Promise.all([untilReady(one), untilReady(two)]);
    const comeAndGo = async (from: number): Promise<void> => {
      for (let n = from; n < 300; n += 10) {
        const visitor = await [one, two][n % 2]?.connect({ user: `visitor ${n % 20}` });
        visitor?.socket.terminate();
      }
    };
    const visitors = Promise.all(Array.from({ length: 10 }, async (_, from) => comeAndGo(from)));
    const names = Array.from({ length: 20 }, (_, n) => `x${n}`);
    for (let round = 0; round < 25; round += 1) {
      await Promise.all(names.map(async (name) => sender.serve(name, [])));
      await Promise.all(names.map(async (remotename) => sender.request('remote-disconnect', { remotename })));
    }
    await visitors;

    const expected = Array.from({ length: 25 }, () => names).flat();
    await eventually(() => toldOf(listener, 'x', 'remote-disconnected').length >= 500, 'all events');
    expect(toldOf(listener, 'x')).toEqual(expected);
    expect(toldOf(listener, 'x', 'remote-disconnected')).toEqual(expected);
    const logs = [...one.logs, ...two.logs];
    expect(logs.filter(({ level }) => Number(level) >= 40)).toEqual([]);
    expect(JSON.stringify(logs)).not.toContain('subscriber mode');
  },
);

cluster(
  'K099: 1,000 channels joined and left, with events in between, and none is told of another user',
  async () => {
    await using redis = await RedisServer.start();
    await using one = await joinRedis({ url: redis.url, leaseMs: LONG_LEASE_MS });
    await using two = await joinRedis({ url: redis.url, leaseMs: LONG_LEASE_MS });
    await two.backplane.join('kept');
    const joined = Array.from({ length: 1_000 }, async (_, n) => {
      const done = two.backplane.join(`u${n}`);
      one.backplane.publish('kept', [`{"n":${n}}`]);
      one.backplane.publish(`stranger ${n}`, ['{"not":"for anybody"}']);
      if (n % 2 === 0) two.backplane.leave(`u${n}`);
      return done;
    });
    await Promise.all(joined);
    await eventually(() => two.node.events.length >= 1_000, 'all events');
    expect(two.node.events).toEqual(
      Array.from({ length: 1_000 }, (_, n) => ({ userId: 'kept', events: [`{"n":${n}}`] })),
    );
    expect(await Promise.all([0, 1, 2, 3].map(async (n) => one.backplane.isElsewhere(`u${n}`)))).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect([...one.logs, ...two.logs].filter(({ level }) => Number(level) >= 40)).toEqual([]);
  },
);

cluster('CLUSTER-04: who comes and goes at once ends as told last', async () => {
  await using redis = await RedisServer.start();
  await using one = await joinRedis({ url: redis.url, leaseMs: LONG_LEASE_MS });
  await using two = await joinRedis({ url: redis.url, leaseMs: LONG_LEASE_MS });
  for (let n = 0; n < 50; n += 1) {
    void two.backplane.join('stays');
    two.backplane.leave('stays');
    void two.backplane.join('leaves');
    two.backplane.leave('leaves');
  }
  await two.backplane.join('stays');
  expect(await one.backplane.isElsewhere('stays')).toBe(true);
  expect(await one.backplane.isElsewhere('leaves')).toBe(false);
});

cluster(
  'CLUSTER-04: a session that has got its own session-opened gets every later event of other nodes',
  async () => {
    await using nodes = await startNodes();
    for (let round = 0; round < 60; round += 1) {
      const user = `user ${round}`;
      const sender = await nodes.node(0).connect({ user });
      // it has got its session-opened, as the only one of its user on its node
      const listener = await nodes.node(1).connect({ user });
      void sender.serve('x', []);
      expect(await listener.event('remote-connected')).toMatchObject({ body: { remotename: 'x' } });
      expect(await sender.event('session-opened')).toBeDefined();
    }
  },
);

cluster('CLUSTER-04: events reach no session of another user, on whichever node', async () => {
  await using nodes = await startNodes();
  const strangers = await Promise.all(
    ['u', 'u11', '{u1}', 'U1', '*'].flatMap((user) => nodes.all.map(async (hub) => hub.connect({ user }))),
  );
  const [one, two] = [await nodes.node(0).connect(), await nodes.node(1).connect()];
  await one.serve('x', []);
  await two.event('remote-connected');
  await one.request('remote-disconnect', { remotename: 'x' });
  await two.event('remote-disconnected');
  await Promise.all(strangers.map(async (stranger) => stranger.settle()));
  for (const stranger of strangers) {
    const others = stranger.events.filter(({ action }) => action !== 'session-opened');
    expect([...others, ...stranger.others]).toEqual([]);
  }
});

cluster(
  'CLUSTER-04: no event precedes the reply to the request that caused it, and it is told once',
  async () => {
    await using nodes = await startNodes();
    const [one, two] = [await nodes.node(0).connect(), await nodes.node(1).connect()];
    await one.serve('x', []);
    await two.event('remote-connected');
    const actions = one.frames.map((frame) => {
      const { action, message } = JSON.parse(frame) as Message;
      return action ?? message;
    });
    const relevant = actions.filter((what) => what !== 'session-opened');
    expect(relevant).toEqual(['remote connected', 'remote-connected']);
    expect(two.events.filter(({ action }) => action === 'remote-connected')).toEqual([]);
    expect(toldOf(one, 'x')).toEqual(['x']);
  },
);
