import type { TestHub } from '../../support/hub.js';
import type { Message, TestSession } from '../../support/session.js';

/** The instance that most tests lose. */
export const instanceId = 'q8Zr3kX0aW5nT7uB';

/** How an instance comes. */
export interface Login {
  readonly user?: string;
  /** `undefined`: of no instance. */
  readonly instanceId?: string | undefined;
  readonly ttlMs?: number;
}

/** Logs a session in by its first message, on a connection of its own unless one is given. */
export async function logIn(
  hub: TestHub,
  { user, ttlMs, ...login }: Login = {},
  connection?: TestSession,
): Promise<{ session: TestSession; reply: Message }> {
  const session = connection ?? (await hub.open(['remotes.v1']));
  const body = { token: await hub.token(user, ttlMs), instanceId, ...login };
  const reply = await session.request('authenticate', body);
  await session.event('session-opened');
  return { session, reply };
}

/** Serves a remote whose one function is `f`. */
export async function serve(session: TestSession, remotename: string, resumeMs?: number): Promise<Message> {
  return session.request('remote-connect', { remotename, tools: [{ name: 'f' }], resumeMs });
}

/** Starts a call of `f` and waits until the serving session has it. */
export async function start(
  caller: TestSession,
  serving: TestSession,
  remotename = 'x',
  more: object = {},
): Promise<{ requestId: unknown; reply: Promise<Message> }> {
  const reply = caller.call(remotename, 'f', {}, more);
  const { requestId } = await serving.next('remote-call');
  return { requestId, reply };
}

/** Loses a session that serves, without a close frame, and waits until `witness` hears of it. */
export async function lose(serving: TestSession, witness: TestSession): Promise<void> {
  serving.socket.terminate();
  await witness.event('remote-disconnected');
}

/** Sends the answer to a call, with an id that may be from before. */
export function answer(session: TestSession, requestId: unknown, result: unknown): void {
  session.send({ action: 'remote-call-result', requestId, result });
}

/** An instance that serves `x`, and another session of its user that calls it. */
export async function lostPair(hub: TestHub, resumeMs = 10_000, login: Login = {}) {
  const { session: serving } = await logIn(hub, login);
  const caller = await hub.connect({ v1: true });
  await serve(serving, 'x', resumeMs);
  await caller.event('remote-connected');
  return { serving, caller };
}

/** What a caller is told when its call has waited in vain. */
export const lost = {
  error: "remote 'x' disconnected before it answered",
  code: 'remote-disconnected',
  executed: 'unknown',
  retryable: false,
};
