import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Keys } from '../../server/src/cluster/keys.js';
import { RedisServer, redisNote, redisPath } from '../support/redis.js';

const cluster = test.skipIf(redisPath === undefined);

const keys = new Keys('remotes-hub');

/** Names from outside, as odd as they may be. */
const name = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 3 }),
  // UTF-16 of any kind, lone surrogates too
  fc
    .array(fc.integer({ min: 0, max: 0xff_ff }), { maxLength: 4 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    '{',
    '}',
    '{}',
    '{t}',
    't',
    ':',
    'a:b',
    '*',
    '?',
    '[x]',
    '\u0000',
    '\n',
    '\ud800',
    '\ufffd',
  ),
  fc.constantFrom('remotes', 'events', ':remotes', 'run:', 'a}:events', '"', '\\ud800'),
);

/** All keys that stand for a user. */
function ofUser(userId: string, runId: string): readonly string[] {
  return [
    keys.remotes(userId),
    keys.tools(userId),
    keys.instances(userId),
    keys.run(userId, runId),
    keys.events(userId),
  ];
}

test('K110: no key of one user is one of another user, nor another of the same', () => {
  fc.assert(
    fc.property(name, name, name, name, (user, otherUser, run, otherRun) => {
      const own = ofUser(user, run);
      expect(new Set(own).size).toBe(own.length);
      const others = new Set(ofUser(otherUser, otherRun));
      if (user !== otherUser) expect(own.filter((key) => others.has(key))).toEqual([]);
      expect(keys.run(user, run) === keys.run(otherUser, otherRun)).toBe(
        user === otherUser && run === otherRun,
      );
    }),
    { numRuns: 2_000 },
  );
});

test('K110: the names of what nodes keep are none of a user', () => {
  fc.assert(
    fc.property(name, name, fc.uuid(), (user, run, nodeId) => {
      const { nodes, heartbeats, epoch } = keys;
      const ofNodes = [
        keys.lease(nodeId),
        keys.usersOf(nodeId),
        keys.mailbox(nodeId),
        nodes,
        heartbeats,
        epoch,
      ];
      expect(new Set([...ofUser(user, run), ...ofNodes]).size).toBe(11);
      for (const key of ofNodes) expect(keys.userOf(key)).toBeUndefined();
    }),
  );
});

test('K110: the user of an events channel is found again, and other channels have none', () => {
  fc.assert(
    fc.property(name, name, (user, run) => {
      expect(keys.userOf(keys.events(user))).toBe(user);
      for (const key of ofUser(user, run).slice(0, -1)) expect(keys.userOf(key)).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
  for (const channel of ['', 'x', 'remotes-hub:user:{}:events', 'remotes-hub:user:{bm9uZQ}:events']) {
    expect(keys.userOf(channel)).toBeUndefined();
  }
});

cluster(`CLUSTER-11: all keys of a user have one slot of a Redis Cluster${redisNote}`, async () => {
  await using redis = await RedisServer.start({ more: ['--cluster-enabled', 'yes', '--cluster-port', '0'] });
  const slot = async (key: string): Promise<string> => redis.command(`CLUSTER KEYSLOT ${key}`);
  const slots = new Set<string>();
  for (const user of fc.sample(name, { numRuns: 30, seed: 1 })) {
    const own = new Set(await Promise.all(ofUser(user, 'run').map(slot)));
    expect(own.size).toBe(1);
    for (const one of own) slots.add(one);
  }
  expect(slots.size).toBeGreaterThan(15);
});
