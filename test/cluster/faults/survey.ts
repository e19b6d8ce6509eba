import { setTimeout as delay } from 'node:timers/promises';
import type { FaultCluster } from './cluster.js';
import { isContested } from './contest.js';
import type { PlayedSession } from './sessions.js';

/** Time for one question, in milliseconds. */
const PATIENCE_MS = 2_000;
const STEP_MS = 100;

/**
 * What is missing for everything to be served: every node is ready, and knows every remote of every user once, and a
 * call from it reaches the session that serves the remote. Empty when nothing is.
 */
export async function missing(cluster: FaultCluster, sessions: readonly PlayedSession[]): Promise<string[]> {
  const ready = cluster.nodes.map(async (node, index) =>
    (await node.isReady(PATIENCE_MS)) ? [] : [`node ${index} is not ready`],
  );
  const views = sessions.map(async (session) => missingFor(session, sessions));
  return (await Promise.all([...ready, ...views])).flat();
}

/** Waits until nothing is missing. Gives what is after so many milliseconds, else nothing. */
export async function untilServed(
  cluster: FaultCluster,
  sessions: readonly PlayedSession[],
  patienceMs: number,
): Promise<string[]> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const left = await missing(cluster, sessions);
    if (left.length === 0 || performance.now() > deadline) return left;
    await delay(STEP_MS);
  }
}

async function missingFor(session: PlayedSession, sessions: readonly PlayedSession[]): Promise<string[]> {
  const { index, node, user, remotename } = session.place;
  const own = sessions.filter(({ place }) => place.user === user);
  const found = await Promise.all([listProblem(session, own), ...own.map(callProblem(session))]);
  if (!session.isServing) found.push(`its client says that '${remotename}' is not connected`);
  return found.flatMap((problem) =>
    problem === undefined ? [] : [`session ${index} at node ${node}: ${problem}`],
  );
}

async function listProblem(
  { hub }: PlayedSession,
  own: readonly PlayedSession[],
): Promise<string | undefined> {
  const answer = await within(hub.list());
  if (answer instanceof Error) return `remote-list: ${answer.message}`;
  const listed = answer.map(({ remotename }) => remotename).filter((name) => !isContested(name));
  const expected = own.map(({ place }) => place.remotename);
  if (listed.toSorted().join() === expected.toSorted().join()) return undefined;
  return `lists ${listed.join()}`;
}

function callProblem({ hub }: PlayedSession): (other: PlayedSession) => Promise<string | undefined> {
  return async ({ place: { index, remotename } }) => {
    const answer = await within(hub.call(remotename, 'who', {}, { timeoutMs: PATIENCE_MS }));
    if (answer instanceof Error) return `'${remotename}': ${answer.message}`;
    return answer === index ? undefined : `'${remotename}' is served by session ${JSON.stringify(answer)}`;
  };
}

/** The answer, or why there is none; the SDK waits for a lost connection, and that is no answer either. */
async function within<T>(promise: Promise<T>): Promise<T | Error> {
  const abort = new AbortController();
  const tooLate = delay(PATIENCE_MS + 500, new Error('no answer'), { signal: abort.signal });
  tooLate.catch(() => undefined);
  const answer = promise.catch((error: unknown) =>
    error instanceof Error ? error : new Error(String(error)),
  );
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    abort.abort();
  }
}
