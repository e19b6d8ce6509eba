import { setImmediate } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import type { RedisBackplane } from '../../server/src/cluster/redis-backplane.js';
import { JsonText } from '../../server/src/json/json-text.js';
import { eventually } from '../support/eventually.js';
import { RedisServer, redisNote, redisPath } from '../support/redis.js';
import { LONG_LEASE_MS, joinRedis, lossOf } from './backplane-fixtures.js';
import { commandCounts, executedSince } from './command-counts.js';

const cluster = test.skipIf(redisPath === undefined);

async function joinTwo() {
  const redis = await RedisServer.start();
  const sender = await joinRedis({ url: redis.url, leaseMs: LONG_LEASE_MS });
  const receiver = await joinRedis({ url: redis.url, leaseMs: LONG_LEASE_MS });
  return {
    redis,
    sender: sender.backplane,
    senderNode: sender.node,
    receiver: receiver.backplane,
    received: receiver.node.messages,
    events: receiver.node.events,
    logs: receiver.logs,
    [Symbol.asyncDispose]: async () => {
      redis.resume();
      await Promise.all([sender, receiver].map(async (joined) => joined[Symbol.asyncDispose]()));
      await redis[Symbol.asyncDispose]();
    },
  };
}

cluster(
  `CLUSTER-06: messages of one turn travel together, and arrive in their order${redisNote}`,
  async () => {
    await using both = await joinTwo();
    const before = await commandCounts(both.redis);
    for (let n = 0; n < 500; n += 1) both.sender.send(both.receiver.nodeId, { head: ['test', n] });
    await eventually(() => both.received.length === 500, 'all have arrived');
    expect(await executedSince(both.redis, before)).toEqual({ spublish: 1 });
    expect(both.received.map(({ message }) => message.head[1])).toEqual(
      Array.from({ length: 500 }, (_, n) => n),
    );
    expect(new Set(both.received.map(({ from }) => from))).toEqual(new Set([both.sender.nodeId]));
  },
);

cluster(
  'CLUSTER-06: messages of many turns arrive in their order, each once, with their bodies',
  async () => {
    await using both = await joinTwo();
    const bodies = ['{"a":1e400}', '-0', `"${'é'.repeat(20_000)}"`, undefined];
    for (let n = 0; n < 400; n += 1) {
      const text = bodies[n % 4];
      const body = text === undefined ? undefined : new JsonText(n % 3 === 0 ? text : Buffer.from(text));
      both.sender.send(both.receiver.nodeId, { head: ['test', n], body });
      if (n % 7 === 0) await setImmediate();
    }
    await eventually(() => both.received.length === 400, 'all have arrived');
    for (const [n, { message }] of both.received.entries()) {
      expect(message.head).toEqual(['test', n]);
      expect(message.body?.text === bodies[n % 4]).toBe(true);
    }
  },
);

cluster('CLUSTER-06: what waits for the end of the turn is still sent when the node leaves', async () => {
  await using both = await joinTwo();
  both.sender.send(both.receiver.nodeId, { head: ['last'] });
  await both.sender[Symbol.asyncDispose]();
  await eventually(() => both.received.length === 1, 'it has arrived');
});

cluster(
  'CLUSTER-06: a slow Redis does not fill the memory: beyond a bound messages are told as lost',
  async () => {
    await using both = await joinTwo();
    both.redis.pause();
    const body = new JsonText(Buffer.alloc(1024 * 1024, '1'));
    for (let n = 0; n < 100; n += 1) {
      both.sender.send(both.receiver.nodeId, { head: ['test', n], body }, true);
      await setImmediate();
    }
    const { lossesTold } = both.senderNode;
    expect(lossesTold.length).toBeGreaterThan(10);
    expect(new Set(lossesTold.map(({ loss }) => loss))).toEqual(new Set(['unavailable']));
  },
);

// Redis ends the connection of a subscriber for which more than 32 MB wait
cluster('CLUSTER-06: the messages of one turn may be long together', async () => {
  await using both = await joinTwo();
  const body = new JsonText(Buffer.alloc(4 * 1024 * 1024, '1'));
  for (let n = 0; n < 10; n += 1) {
    both.sender.send(both.receiver.nodeId, { head: ['test', n], body }, true);
  }
  await eventually(() => both.received.length === 10 || !both.receiver.isReady, 'all have arrived');
  expect(both.received.length).toBe(10);
  expect(both.senderNode.lossesTold).toEqual([]);
  expect(both.receiver.isReady).toBe(true);
});

cluster(
  'CLUSTER-06: batches that cannot be read are dropped and logged, and the next ones arrive',
  async () => {
    await using both = await joinTwo();
    const raw = new Redis(both.redis.url);
    const mailbox = `test:node:{${both.receiver.nodeId}}:mailbox`;
    const unreadable = [
      '',
      'x',
      '{"a":1}',
      '\u0002\u0001a',
      '\u0001\u0001a\u00ff',
      '\u0001\u0001aaaaaaaaaaaaaaaaa',
    ];
    for (const payload of unreadable) await raw.spublish(mailbox, Buffer.from(payload, 'latin1'));
    // an array of another kind is a message that a later version may send
    const head = JSON.stringify({ not: 'an array' });
    await raw.spublish(
      mailbox,
      Buffer.concat([Buffer.from([1, 1, 97, head.length, 0, 0, 0, 0, 0, 0, 0]), Buffer.from(head)]),
    );
    await raw.spublish('test:user:{bm9uZQ}:events', '["x"]');
    both.sender.send(both.receiver.nodeId, { head: ['good'] });
    await eventually(() => both.received.length > 0, 'the good one has arrived');
    raw.disconnect();
    expect(both.received.map(({ message }) => message.head)).toEqual([['good']]);
    const logged = both.logs.filter(({ msg }) => msg === 'unreadable message of a node');
    expect(logged.length).toBe(unreadable.length + 1);
  },
);

cluster('CLUSTER-06: payloads that are no events are dropped', async () => {
  await using both = await joinTwo();
  await both.receiver.join('u1');
  const raw = new Redis(both.redis.url);
  const channel = `test:user:{${Buffer.from('"u1"').toString('base64url')}}:events`;
  for (const payload of ['', '{', '[]', '{}', 'null', '[1]', '["n",1]', '"x"', '[["n"]]']) {
    await raw.spublish(channel, payload);
  }
  raw.disconnect();
  both.sender.publish('u1', ['{"action":"good"}']);
  await eventually(() => both.events.length > 0, 'the good one has arrived');
  expect(both.events).toEqual([{ userId: 'u1', events: ['{"action":"good"}'] }]);
});

cluster(
  'CLUSTER-06: a message to a node that has left, and one without Redis, are told as lost',
  async () => {
    await using both = await joinTwo();
    const { nodeId } = both.receiver;
    await both.receiver[Symbol.asyncDispose]();
    const sending = { backplane: both.sender, node: both.senderNode };
    expect(await lossOf(sending, nodeId)).toBe('node-gone');
    await both.redis.kill();
    await eventually(() => !both.sender.isReady, 'Redis is away');
    expect(await lossOf(sending, nodeId)).toBe('unavailable');
  },
);

// it counts as unread for ever
cluster('CLUSTER-06: much that is sent to a node that nobody knows is all told as lost', async () => {
  await using both = await joinTwo();
  sendMuch(both.sender, 'nobody');
  const { lossesTold } = both.senderNode;
  await eventually(() => lossesTold.length === 20, 'all are told', 1_500);
  expect(new Set(lossesTold.map(({ message }) => message.head[1]))).toHaveLength(20);
  expect(new Set(lossesTold.map(({ loss }) => loss))).toEqual(new Set(['node-gone']));
});

cluster('CLUSTER-06: what was lost on its way is not waited for: later messages arrive', async () => {
  await using both = await joinTwo();
  const raw = new Redis(both.redis.url);
  // the node lives, and for a moment nobody listens there
  await raw.set('test:node:{late}:lease', '0');
  sendMuch(both.sender, 'late');
  await eventually(() => both.senderNode.lossesTold.length > 0, 'nobody listens');
  let heard = 0;
  raw.on('smessage', () => (heard += 1));
  await raw.ssubscribe('test:node:{late}:mailbox');
  both.sender.send('late', { head: ['test'] });
  await eventually(() => heard > 0, 'the message has arrived', 1_500).finally(() => raw.disconnect());
});

/** Sends twenty messages of 1 MiB. */
function sendMuch(backplane: RedisBackplane, nodeId: string): void {
  const body = new JsonText(Buffer.alloc(1024 * 1024, '1'));
  for (let n = 0; n < 20; n += 1) backplane.send(nodeId, { head: ['test', n], body }, true);
}
