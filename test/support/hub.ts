import { randomUUID } from 'node:crypto';
import {
  createHub,
  type Hub,
  type HubConfigInput,
  type HubCounts,
  type HubOptions,
} from '@remotes-hub/server';
import { inject, test, type TestAPI } from 'vitest';
import { createLogger } from '../../server/src/observability/logger.js';
import { eventually } from './eventually.js';
import { TestSession } from './session.js';

/** The HS256 key of every test hub. */
export const TEST_SECRET = 'a secret of the tests, long enough for HS256';

/** How a test connects. */
export interface ConnectOptions {
  /** @default "u1" */
  readonly user?: string;
  /** Offers remotes.v1. @default false */
  readonly v1?: boolean;
  readonly instanceId?: string;
  /** Milliseconds. @default an hour */
  readonly ttlMs?: number;
}

/**
 * A hub on a free port of 127.0.0.1, with its log lines. Where tests run against two nodes it is both of them: sessions
 * connect to the one and the other in turn, counts are those of both, and the rest is the first one's.
 */
export interface TestHub extends AsyncDisposable {
  readonly hub: Hub;
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** `ws://127.0.0.1:PORT/ws` */
  readonly socketUrl: string;
  readonly logs: Record<string, unknown>[];
  token(user?: string, ttlMs?: number): Promise<string>;
  /** A session that has logged in, its own `session-opened` taken. */
  connect(options?: ConnectOptions): Promise<TestSession>;
  /** A connection that has not logged in. */
  open(protocols?: string[]): Promise<TestSession>;
  /** Waits until nothing is left but this many sessions. */
  idle(sessions?: number): Promise<void>;
}

/** Whether tests run against two nodes that share a Redis. */
export const isOnTwoNodes = process.env['TEST_NODES'] === '2';

/** A test of what two nodes do in another way, as its comment says. */
export const onOneNode: ReturnType<TestAPI['skipIf']> = test.skipIf(isOnTwoNodes);

/** Starts a hub for a test. Limits and all else as in a configuration. */
export async function startTestHub(config: HubConfigInput = {}, options: HubOptions = {}): Promise<TestHub> {
  const logs: Record<string, unknown>[] = [];
  const log = createLogger('debug', {
    write: (line: string) => void logs.push(JSON.parse(line) as Record<string, unknown>),
  });
  const auth = options.authenticate === undefined ? { secret: TEST_SECRET, ...config.auth } : config.auth;
  const redis = isOnTwoNodes
    ? { redis: { url: inject('redisUrl'), prefix: randomUUID(), leaseMs: 60_000 } }
    : {};
  const create = (): Hub =>
    createHub({ config: { ...redis, ...config, ...(auth && { auth }) }, log, ...options });
  const nodes = isOnTwoNodes ? [create(), create()] : [create()];
  const urls = await Promise.all(nodes.map(async (node) => startNode(node)));
  const [url = ''] = urls;
  const socketUrls = urls.map((of) => `${of.replace('http', 'ws')}${config.path ?? '/ws'}`);
  const [socketUrl = ''] = socketUrls;
  const hub = asOne(nodes);
  let connections = 0;
  const nextSocketUrl = (): string => socketUrls[connections++ % socketUrls.length] ?? socketUrl;
  const sessions: TestSession[] = [];
  const opened = (session: TestSession): TestSession => {
    sessions.push(session);
    return session;
  };
  const token = async (user = 'u1', ttlMs = 3_600_000): Promise<string> =>
    (await hub.issueToken(user, ttlMs)).token;
  return {
    hub,
    url,
    socketUrl,
    logs,
    token,
    connect: async ({ user = 'u1', v1 = false, instanceId, ttlMs } = {}) => {
      const headers: Record<string, string> = { authorization: `Bearer ${await token(user, ttlMs)}` };
      if (instanceId !== undefined) headers['remotes-instance-id'] = instanceId;
      const session = opened(await TestSession.open(nextSocketUrl(), v1 ? ['remotes.v1'] : [], { headers }));
      await session.event('session-opened');
      return session;
    },
    open: async (protocols) => opened(await TestSession.open(nextSocketUrl(), protocols)),
    idle: async (left = 0) => {
      await eventually(
        () => {
          const { sessions: open, pendingCalls, runs, unauthenticated } = hub.counts();
          return open === left && pendingCalls === 0 && runs === 0 && unauthenticated === 0;
        },
        `only ${left} sessions left, nothing pending: ${JSON.stringify(hub.counts())}`,
      );
    },
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.socket.terminate();
      await hub.close();
    },
  };
}

/** Listens, and waits until it has joined the other node. @returns its URL */
async function startNode(hub: Hub): Promise<string> {
  const { url } = await hub.listen({ host: '127.0.0.1', port: 0 });
  for (let isReady = !isOnTwoNodes; !isReady;) isReady = (await fetch(`${url}/readyz`)).ok;
  return url;
}

function asOne(nodes: readonly Hub[]): Hub {
  const [first] = nodes;
  if (first === undefined) throw new TypeError('a hub has a node');
  if (nodes.length === 1) return first;
  const close = async (): Promise<void> => {
    await Promise.all(nodes.map(async (node) => node.close()));
  };
  return {
    ...first,
    counts: () => nodes.map((node) => node.counts()).reduce(added),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function added(one: HubCounts, other: HubCounts): HubCounts {
  return {
    sessions: one.sessions + other.sessions,
    unauthenticated: one.unauthenticated + other.unauthenticated,
    remotes: one.remotes + other.remotes,
    providers: one.providers + other.providers,
    callers: one.callers + other.callers,
    pendingCalls: one.pendingCalls + other.pendingCalls,
    runs: one.runs + other.runs,
    ignoredMessages: one.ignoredMessages + other.ignoredMessages,
  };
}
