import { setTimeout as delay } from 'node:timers/promises';
import type { HubProcess } from '../../support/hub-process.js';
import { PROXIED_NODE, type FaultCluster } from './cluster.js';
import type { Problems } from './problems.js';

/** Something that befalls the cluster. */
export interface Fault {
  /** Which node it hits when it is not one of `inflict`'s choice. */
  readonly node?: number;
  /** Inflicts it on a node, or on all of them, and lifts it again. */
  readonly inflict: (cluster: FaultCluster, node: number, problems: Problems) => Promise<void>;
}

/** Each fault by its name, in the order in which they come. */
export const faults: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  // the sessions come back while the lease of the dead node still holds their names
  ['kill-node', { inflict: async (cluster, node) => cluster.node(node).restart() }],
  ['stop-node', { inflict: async (cluster, node) => stopNode(cluster.node(node)) }],
  ['restart-redis', { inflict: async ({ redis }) => redis.restart({ keepData: true }) }],
  ['empty-redis', { inflict: async ({ redis }) => redis.restart({ keepData: false }) }],
  // as when an empty replica takes over: the connections stay
  ['flush-redis', { inflict: async ({ redis }) => void (await redis.command('FLUSHALL')) }],
  ['flush-scripts', { inflict: async ({ redis }) => void (await redis.command('SCRIPT FLUSH')) }],
  // half of what a node has at Redis
  ['lose-channels', { inflict: async ({ redis }) => void (await redis.command('CLIENT KILL TYPE pubsub')) }],
  ['lose-commands', { inflict: async ({ redis }) => void (await redis.command('CLIENT KILL TYPE normal')) }],
  // shorter than the lease, and longer
  ['pause-node-briefly', { inflict: async (cluster, node) => pauseNode(cluster, node, 2_000) }],
  ['pause-node', { inflict: async (cluster, node) => pauseNode(cluster, node, 20_000) }],
  ['pause-redis', { inflict: async (cluster) => pauseRedis(cluster, 5_000) }],
  // every connection to Redis is refused
  ['cut-off', { node: PROXIED_NODE, inflict: async (cluster, _, problems) => cutOff(cluster, problems) }],
  // nothing arrives any more, and nobody is told
  [
    'silent-cut-off',
    { node: PROXIED_NODE, inflict: async (cluster, _, problems) => silence(cluster, problems) },
  ],
  ['kill-node-without-redis', { inflict: killWithoutRedis }],
]);

/** How long the node is cut off, in milliseconds: longer than its lease. */
const CUT_OFF_MS = 12_000;

/** Longer than any cut, in milliseconds. */
const NEVER_MS = 60_000;

async function stopNode(node: HubProcess): Promise<void> {
  await node.kill('SIGTERM');
  await node.restart();
}

async function pauseNode(cluster: FaultCluster, index: number, ms: number): Promise<void> {
  const node = cluster.node(index);
  const from = performance.now();
  node.pause();
  await delay(ms);
  node.resume();
  cluster.silences.push({ node: index, from, to: performance.now() });
}

async function pauseRedis({ redis }: FaultCluster, ms: number): Promise<void> {
  redis.pause();
  await delay(ms);
  redis.resume();
}

async function cutOff(cluster: FaultCluster, problems: Problems): Promise<void> {
  const { proxy } = cluster;
  proxy.isDown = true;
  proxy.cut();
  await delay(CUT_OFF_MS);
  await expectNotReady(cluster, problems);
  proxy.isDown = false;
}

async function silence(cluster: FaultCluster, problems: Problems): Promise<void> {
  const { proxy } = cluster;
  proxy.delayMs = NEVER_MS;
  await delay(CUT_OFF_MS);
  await expectNotReady(cluster, problems);
  proxy.delayMs = 0;
  proxy.cut(); // what is held back must not come after what is not
}

async function expectNotReady(cluster: FaultCluster, problems: Problems): Promise<void> {
  if (await cluster.node(PROXIED_NODE).isReady())
    problems.add('a node without Redis says that it is ready', `after ${CUT_OFF_MS} ms`);
}

async function killWithoutRedis({ redis, nodes }: FaultCluster, index: number): Promise<void> {
  await redis.stop();
  const bringBack = async (): Promise<void> => {
    await delay(4_000);
    await redis.restart({ keepData: true });
  };
  // whether a node listens before it has joined is its own affair
  await Promise.all([nodes[index]?.restart(), bringBack()]);
}
