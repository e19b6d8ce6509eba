import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { LocalBackplane } from '../../server/src/cluster/local-backplane.js';
import { eventually } from '../support/eventually.js';
import { RedisServer, redisNote, redisPath } from '../support/redis.js';
import { until } from './until.js';
import {
  LONG_LEASE_MS,
  RecordedNode,
  claimOf,
  joinRedis,
  lossOf,
  roomy,
  type Joined,
} from './backplane-fixtures.js';

/** A backplane of one kind, with what it needs. */
interface Stage extends AsyncDisposable, Pick<Joined, 'backplane' | 'node'> {
  /** Waits until what was sent before must have arrived. */
  settle(): Promise<void>;
  /** What it is connected to says how many connections there are. */
  connections(): Promise<number>;
}

function startLocal(): Stage {
  const backplane = new LocalBackplane();
  const node = new RecordedNode();
  backplane.start(node);
  return {
    backplane,
    node,
    settle: async () => undefined,
    connections: async () => 0,
    [Symbol.asyncDispose]: () => backplane[Symbol.asyncDispose](),
  };
}

async function startRedis(): Promise<Stage> {
  const redis = await RedisServer.start();
  const { backplane, node } = await joinRedis({ url: redis.url, leaseMs: LONG_LEASE_MS });
  return {
    backplane,
    node,
    settle: async () => {
      const mark = randomUUID();
      backplane.send(backplane.nodeId, { head: [mark] });
      await eventually(() => node.messages.some(({ message }) => message.head[0] === mark), 'the mark');
    },
    connections: async () => {
      const list = await redis.command('CLIENT LIST');
      return [...list.matchAll(/^id=.* cmd=(?!client)/gmu)].length;
    },
    [Symbol.asyncDispose]: async () => {
      await backplane[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}

const kinds: readonly [string, boolean, () => Stage | Promise<Stage>][] = [
  ['LocalBackplane', false, startLocal],
  [`RedisBackplane${redisNote}`, redisPath === undefined, startRedis],
];

describe.each(kinds)('%s', (_kind, isSkipped, start) => {
  const cluster = test.skipIf(isSkipped);

  cluster('CLUSTER-07: a claim is granted, tells when, and a later one is later', async () => {
    await using stage = await start();
    const before = Date.now() * 1_000 - 1_000_000;
    const claims = [claimOf({ remotename: 'a' }), claimOf({ remotename: 'b' }), claimOf({ userId: 'u2' })];
    for (const claim of claims) expect(await stage.backplane.claim(claim, roomy)).toBeUndefined();
    const times = claims.map(({ at = 0 }) => at);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(times[0]).toBeGreaterThan(before);
    expect(times[0]).toBeLessThan(before + 60_000_000);
  });

  cluster(
    'CLUSTER-07: a name that was given back is free, and giving it back twice is harmless',
    async () => {
      await using stage = await start();
      const [first, second] = [claimOf(), claimOf()];
      await stage.backplane.claim(first, roomy);
      await stage.backplane.release(first);
      await stage.backplane.release(first);
      expect(await stage.backplane.claim(second, roomy)).toBeUndefined();
      await stage.backplane.release(claimOf({ remotename: 'never claimed' }));
    },
  );

  cluster("CLUSTER-07: a node's own names are none of another node's", async () => {
    await using stage = await start();
    const { backplane } = stage;
    const claim = claimOf();
    await backplane.claim(claim, roomy);
    expect(await backplane.find('u1', 'x')).toBeUndefined();
    expect(await backplane.find('u1', 'y')).toBeUndefined();
    expect(await backplane.list('u1')).toEqual([]);
    const stranger = {
      remotename: 'x',
      nodeId: 'nobody',
      id: 'none',
      at: 1,
      timeouts: new Map<string, number>(),
    };
    expect(await backplane.toolsOf('u1', stranger)).toBeUndefined();
  });

  cluster('CLUSTER-07: events are not told to the node that sends them', async () => {
    await using stage = await start();
    await stage.backplane.join('u1');
    stage.backplane.publish('u1', ['{"action":"a"}', '{"action":"b"}']);
    stage.backplane.publish('u2', ['{"action":"c"}']);
    await stage.settle();
    expect(stage.node.events).toEqual([]);
    expect(await stage.backplane.isElsewhere('u1')).toBe(false);
    expect(await stage.backplane.isElsewhere('u2')).toBe(false);
    stage.backplane.leave('u1');
    stage.backplane.leave('u3');
    expect(await stage.backplane.isElsewhere('u1')).toBe(false);
  });

  cluster('CLUSTER-07: a message to a node that nobody knows is told as lost', async () => {
    await using stage = await start();
    expect(await lossOf(stage, randomUUID())).toBe('node-gone');
    expect(() => stage.backplane.send(randomUUID(), { head: ['test'] })).not.toThrow();
  });

  cluster('CLUSTER-07: a node takes itself for alive and a stranger for dead', async () => {
    await using stage = await start();
    expect(await stage.backplane.isAlive(stage.backplane.nodeId)).toBe(true);
    expect(await stage.backplane.isAlive(randomUUID())).toBe(false);
  });

  cluster('CLUSTER-07: instances and runs of this node are nowhere else', async () => {
    await using stage = await start();
    const { backplane } = stage;
    expect(await backplane.moveInstance('u1', 'i', 's1')).toEqual([]);
    backplane.awaitInstance('u1', 'i');
    expect(await backplane.moveInstance('u1', 'i', 's2')).toEqual([]);
    backplane.leaveInstance('u1', 'i', 's1');
    backplane.leaveInstance('u1', 'i', 's2');
    backplane.keepRun('u1', 'r', 60_000);
    expect(await backplane.findRun('u1', 'r')).toBeUndefined();
    expect(await backplane.findRun('u1', 'unknown')).toBeUndefined();
  });

  cluster('CLUSTER-07: it is ready once it has started', async () => {
    await using stage = await start();
    expect(stage.backplane.isReady).toBe(true);
  });

  cluster(
    'CLUSTER-07: disposing of it twice is harmless, and leaves no connection and no timer',
    async () => {
      const timers = (): number =>
        process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
      const before = timers();
      await using stage = await start();
      const { backplane } = stage;
      await backplane.claim(claimOf(), roomy);
      await backplane.join('u1');
      await Promise.all([backplane[Symbol.asyncDispose](), backplane[Symbol.asyncDispose]()]);
      await backplane[Symbol.asyncDispose]();

      await eventually(() => timers() <= before, 'no timer is left');
      await until(async () => (await stage.connections()) === 0, 'no connection is left');
      expect(() => backplane.send(randomUUID(), { head: ['test'] })).not.toThrow();
      expect(() => backplane.publish('u1', ['{}'])).not.toThrow();
      await backplane.release(claimOf());
    },
  );
});
