import type { Hub } from '@remotes-hub/client';
import { expect, test } from 'vitest';
import { eventually, soon } from '../support/eventually.js';
import type { HubProcess } from '../support/hub-process.js';
import { RawSocket, upgradeRequest } from '../support/raw-socket.js';
import { redisNote, redisPath } from '../support/redis.js';
import { balancerNote, balancerPath } from './balancer.js';
import { Deployment, sessionsOf } from './deployment.js';
import { Players, type Loss } from './player.js';
import { until } from './until.js';

const SESSIONS = 30;
/** Time over which a node spreads the return of so few sessions, with the jitter that the client adds. */
const SPREAD_MS = 5_000 * 1.25;

/** How calls may end while a node goes away. */
const allowedCodes = new Set([
  'shutting-down',
  'remote-not-connected',
  'remote-disconnected',
  'connection-lost',
]);

const behindBalancer = test.skipIf(redisPath === undefined || balancerPath === undefined);

/** Stops a node as an operator would, and waits until its sessions are at the other one. @returns their losses */
async function takeDown(node: HubProcess, other: HubProcess, { all }: Players): Promise<Loss[]> {
  const stoppedAt = performance.now();
  const moving = await sessionsOf(node);
  const losses = (): Loss[] => all.flatMap((player) => player.losses.filter(({ at }) => at > stoppedAt));
  await node.kill('SIGTERM');
  await eventually(
    () => losses().length >= moving && losses().every(({ backAt }) => backAt !== undefined),
    `${moving} sessions have moved`,
  );
  expect(losses()).toHaveLength(moving);
  expect(await sessionsOf(other)).toBe(all.length);
  return losses();
}

/** Opens sessions until one of them is on this node, and closes them: the nodes have seen it at the end. */
async function untilUsed(node: HubProcess, deployment: Deployment): Promise<void> {
  const newcomers: Hub[] = [];
  const sessions = async (): Promise<number> => sum(await Promise.all(deployment.nodes.map(sessionsOf)));
  const before = await sessions();
  while ((await sessionsOf(node)) === 0) newcomers.push(await deployment.connect());
  await Promise.all(newcomers.map(async (hub) => hub.close()));
  await until(async () => (await sessions()) === before, 'the newcomers have left');
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** A session that never answers its close, and so holds up the end of its node. */
async function stubbornSession(node: HubProcess): Promise<RawSocket> {
  const raw = await RawSocket.open(node.url);
  raw.write(upgradeRequest('/ws', { Authorization: `Bearer ${await node.token('stubborn')}` }));
  await raw.until('session-opened');
  return raw;
}

behindBalancer(
  `nodes are restarted one after the other: their sessions move, and all is served again${redisNote}${balancerNote}`,
  { timeout: 90_000 },
  async () => {
    await using deployment = await Deployment.start();
    const [first, second] = deployment.nodes;
    await using players = await Players.start(SESSIONS, async () => deployment.connect());
    await players.untilAllServed();
    // each went to the node with the fewest
    expect(Math.abs((await sessionsOf(first)) - (await sessionsOf(second)))).toBeLessThan(SESSIONS / 3);
    players.play();

    const moved = await takeDown(first, second, players);
    expect(new Set(moved.map(({ closeCode }) => closeCode))).toEqual(new Set([1001]));
    const waits = moved.map(({ at, backAt = Infinity }) => backAt - at);
    expect(Math.max(...waits)).toBeLessThan(SPREAD_MS + 3_000);
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(1_500);
    await players.untilAllServed();

    await first.restart();
    await first.untilReady();
    await soon(untilUsed(first, deployment), 'a new session on the node that has come back');
    await takeDown(second, first, players);
    await players.untilAllServed();

    await players.stop();
    const failures = players.all.flatMap((player) => player.failures);
    expect(failures.filter(({ code }) => !allowedCodes.has(code))).toEqual([]);
    expect(failures.filter(({ retryable, executed }) => retryable && executed !== 'no')).toEqual([]);
    expect(players.all.map(({ mixedUp }) => mixedUp)).toEqual(players.all.map(() => 0));
  },
);

behindBalancer(
  'a node that is stopping says so, and whoever comes then, or when it has gone, gets to the other one at once',
  { timeout: 60_000 },
  async () => {
    await using deployment = await Deployment.start();
    const [first, second] = deployment.nodes;
    using stubborn = await stubbornSession(first);
    const ended = first.kill('SIGTERM');
    await stubborn.until('the hub is going away');

    expect((await fetch(`${first.url}/readyz`)).status).toBe(503);
    const during = await Promise.all(Array.from({ length: 8 }, async () => deployment.connect()));
    expect(await sessionsOf(second)).toBe(8);
    expect(first.isRunning).toBe(true);
    stubborn.socket.destroy();
    await ended;
    const after = await Promise.all(Array.from({ length: 8 }, async () => deployment.connect()));
    expect(await sessionsOf(second)).toBe(16);
    await Promise.all([...during, ...after].map(async (hub) => hub.close()));
  },
);

behindBalancer(
  'while Redis is away the balancer lets nobody in, and the sessions that are there go on within their nodes',
  { timeout: 60_000 },
  async () => {
    await using deployment = await Deployment.start();
    await using players = await Players.start(4, async () => deployment.connect());
    await players.untilAllServed();

    await deployment.redis.stop();
    await deployment.balancer.until(503);
    expect(await Promise.all(players.all.map(async (player) => player.callOwn()))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    await deployment.redis.restart({ keepData: false });
    await deployment.balancer.until(200);
    await Promise.all(deployment.nodes.map(async (node) => node.untilReady()));
    await players.untilAllServed();
    expect(players.all.flatMap(({ losses }) => losses)).toEqual([]);
  },
);
