import { randomUUID } from 'node:crypto';
import type { Backplane, Loss, NameClaim, NameLimits, NodeSide } from '../../server/src/cluster/backplane.js';
import type { NodeMessage } from '../../server/src/cluster/node-messages.js';
import { RedisBackplane } from '../../server/src/cluster/redis-backplane.js';
import { JsonText } from '../../server/src/json/json-text.js';
import { createLogger } from '../../server/src/observability/logger.js';
import { eventually } from '../support/eventually.js';

/** Bounds that no test meets by chance. */
export const roomy: NameLimits = { maxRemotesPerUser: 100, maxToolsBytesPerUser: 1_000_000 };

/** A lease that ends in a test, and is long enough for a busy machine. */
export const SHORT_LEASE_MS = 900;
/** A lease with heartbeats so far apart that none comes while a test counts commands. */
export const LONG_LEASE_MS = 600_000;

/** A node that writes down what its backplane tells it. */
export class RecordedNode implements NodeSide {
  readonly messages: { message: NodeMessage; from: string }[] = [];
  readonly lossesTold: { message: NodeMessage; nodeId: string; loss: Loss }[] = [];
  readonly events: { userId: string; events: readonly string[] }[] = [];
  readonly gone: string[] = [];
  readonly remotes: { userId: string; remotenames: readonly string[] }[] = [];
  readonly overruledIds: string[] = [];
  readonly held: NameClaim[] = [];
  cuts = 0;
  joins = 0;

  receive(message: NodeMessage, from: string): void {
    this.messages.push({ message, from });
  }

  lost(message: NodeMessage, nodeId: string, loss: Loss): void {
    this.lossesTold.push({ message, nodeId, loss });
  }

  deliver(userId: string, events: readonly string[]): void {
    this.events.push({ userId, events });
  }

  nodeGone(nodeId: string): void {
    this.gone.push(nodeId);
  }

  cutOff(): void {
    this.cuts += 1;
  }

  remotesGone(userId: string, remotenames: readonly string[]): void {
    this.remotes.push({ userId, remotenames });
  }

  claims(): Iterable<NameClaim> {
    return this.held;
  }

  joined(): void {
    this.joins += 1;
  }

  overruled(_userId: string, id: string): void {
    this.overruledIds.push(id);
  }
}

/** A backplane with the node that it tells. */
export interface Joined<T extends Backplane = Backplane> extends AsyncDisposable {
  readonly backplane: T;
  readonly node: RecordedNode;
  readonly logs: Record<string, unknown>[];
}

/** Where and how a backplane joins. */
export interface JoinOptions {
  readonly url: string;
  readonly prefix?: string;
  readonly leaseMs?: number;
}

/** Starts a backplane on Redis, and waits until it has joined. */
export async function joinRedis({
  url,
  prefix = 'test',
  leaseMs = SHORT_LEASE_MS,
}: JoinOptions): Promise<Joined<RedisBackplane>> {
  const logs: Record<string, unknown>[] = [];
  const log = createLogger('debug', {
    write: (line: string) => void logs.push(JSON.parse(line) as Record<string, unknown>),
  });
  const backplane = new RedisBackplane({ url, cluster: false, prefix, leaseMs, limits: roomy, log });
  const node = new RecordedNode();
  backplane.start(node);
  await eventually(() => backplane.isReady, 'the backplane is ready');
  return { backplane, node, logs, [Symbol.asyncDispose]: () => backplane[Symbol.asyncDispose]() };
}

/** A connection of user `u1` that wants the name `x`. */
export function claimOf(more: Partial<NameClaim> = {}): NameClaim {
  return {
    userId: 'u1',
    remotename: 'x',
    id: randomUUID(),
    instanceKey: undefined,
    tools: new JsonText('[ {"name":"f","x-big":12345678901234567890} ]'),
    timeouts: new Map(),
    ...more,
  };
}

/** Sends a message. @returns why it was lost; waits until it is */
export async function lossOf(
  { backplane, node }: Pick<Joined, 'backplane' | 'node'>,
  nodeId: string,
): Promise<Loss | undefined> {
  const mark = randomUUID();
  const find = () => node.lossesTold.find(({ message }) => message.head[1] === mark);
  backplane.send(nodeId, { head: ['test', mark], body: new JsonText('1e400') }, true);
  await eventually(() => find() !== undefined, 'it is told as lost');
  const told = find();
  return told?.nodeId === nodeId ? told.loss : undefined;
}
