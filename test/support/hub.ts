import { createHub, type Hub, type HubConfigInput, type HubOptions } from '@remotes-hub/server';
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

/** A hub on a free port of 127.0.0.1, with its log lines. */
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

/** Starts a hub for a test. Limits and all else as in a configuration. */
export async function startTestHub(config: HubConfigInput = {}, options: HubOptions = {}): Promise<TestHub> {
  const logs: Record<string, unknown>[] = [];
  const log = createLogger('debug', {
    write: (line: string) => void logs.push(JSON.parse(line) as Record<string, unknown>),
  });
  const auth = options.authenticate === undefined ? { secret: TEST_SECRET, ...config.auth } : config.auth;
  const hub = createHub({ config: { ...config, ...(auth && { auth }) }, log, ...options });
  const { url } = await hub.listen({ host: '127.0.0.1', port: 0 });
  const socketUrl = `${url.replace('http', 'ws')}${config.path ?? '/ws'}`;
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
      const session = opened(await TestSession.open(socketUrl, v1 ? ['remotes.v1'] : [], { headers }));
      await session.event('session-opened');
      return session;
    },
    open: async (protocols) => opened(await TestSession.open(socketUrl, protocols)),
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
