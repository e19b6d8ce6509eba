import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { startTestHub, type TestHub } from '../../support/hub.js';
import type { TestSession } from '../../support/session.js';
import { frameText } from './frame-arbitraries.js';

/** Set FUZZ_SEED to repeat a run. */
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
const FRAMES = 20_000;
/** Kinds of messages that the hub sends in every run. */
const reached = [
  'reply',
  'result',
  'remote-call',
  'remote-connected',
  'remote-disconnected',
  'run-finished',
  'malformed-message',
  'unknown-action',
  'invalid-body',
  'invalid-schema',
  'invalid-arguments',
  'invalid-credentials',
  'remote-not-connected',
  'remote-already-connected',
  'remote-disconnected',
  'function-not-found',
  'function-failed',
  'call-timeout',
];

interface User {
  readonly userId: string;
  readonly sessions: TestSession[];
}

/** Marks what a user sends, so that it would be seen at another's. */
function marked(text: string, { userId }: User): string {
  return text
    .replaceAll('"d"', `"of ${userId}"`)
    .replaceAll('"e"', `"of ${userId}"`)
    .replaceAll('"x"', `"x of ${userId}"`);
}

/** Connects a user's session that answers most of the calls that it is sent, in one way or another. */
async function connect(hub: TestHub, userId: string, index: number, dice: Dice): Promise<TestSession> {
  const session = await hub.connect({ user: userId, v1: index % 2 === 0 });
  const answers = [{ result: { a: userId } }, { result: 0 }, { error: 'failed' }, { progress: 1 }, {}];
  session.socket.on('message', (data: Buffer) => {
    const { action, requestId } = JSON.parse(data.toString()) as Record<string, unknown>;
    if (action !== 'remote-call' || dice.next(4) === 0) return;
    const answer = dice.of(answers);
    const reply = 'progress' in answer ? 'remote-call-progress' : 'remote-call-result';
    session.send({ action: reply, requestId, ...answer });
  });
  return session;
}

async function replaceClosed(hub: TestHub, { userId, sessions }: User, dice: Dice): Promise<void> {
  for (const [index, { isOpen }] of sessions.entries()) {
    if (!isOpen) sessions[index] = await connect(hub, userId, index, dice);
  }
}

function framesOfOthers({ userId, sessions }: User): string[] {
  const foreign = userId === 'u1' ? 'of u2' : 'of u1';
  return sessions.flatMap(({ frames }) => frames.filter((frame) => frame.includes(foreign)));
}

test(`LIMIT-03: ${FRAMES} random and mutated frames neither stop the hub nor reach another user (seed ${seed})`, async () => {
  const agents = [{ id: 'a', name: 'A', model: { provider: 'offline' as const } }];
  const limits = {
    maxMessagesPerSecond: 1_000_000,
    maxAttemptsPerAddress: 1_000_000,
    callTimeoutMs: 200,
    maxRemotesPerSession: 20,
  };
  await using hub = await startTestHub({ agents, limits, log: { level: 'info' } });
  const dice = new Dice(seed);
  const users: User[] = [];
  for (const userId of ['u1', 'u2']) {
    const sessions = [];
    for (let count = 0; count < 4; count += 1) sessions.push(await connect(hub, userId, count, dice));
    users.push({ userId, sessions });
  }
  const bystander = await hub.connect({ user: 'bystander' });
  await bystander.serve('x', ['f']);
  await bystander.event('remote-connected');
  const seen: string[] = [];
  const kinds = new Map<string, number>();

  const frames = fc.sample(frameText, { seed, numRuns: FRAMES });
  for (const [index, text] of frames.entries()) {
    const user = dice.of(users);
    const session = dice.of(user.sessions);
    const roll = dice.next(1_000);
    if (roll < 2) session.socket.send(Buffer.from(text), { binary: true });
    else if (roll < 4) session.socket.send(Buffer.from([0xff, ...Buffer.from(text)]), { binary: false });
    else if (roll < 5) session.socket.terminate();
    else if (roll < 6) session.socket.close(4_000);
    else session.send(marked(text, user));
    if (index % 500 !== 499) continue;
    await Promise.all(
      users.flatMap(({ sessions }) => sessions.map(async ({ isOpen, socket }) => isOpen && answered(socket))),
    );
    for (const each of users) {
      seen.push(...framesOfOthers(each));
      for (const { frames: received } of each.sessions) tally(kinds, received.splice(0));
      await replaceClosed(hub, each, dice);
    }
  }

  expect([...kinds.keys()]).toEqual(expect.arrayContaining(reached));
  expect(kinds.get('remote-call')).toBeGreaterThan(500);
  expect(seen).toEqual([]);
  expect(bystander.frames.slice(3)).toEqual([]);
  expect(bystander.frames.filter((frame) => / of u\d/u.test(frame))).toEqual([]);
  await bystander.settle();
  expect(hub.logs.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  for (const { sessions } of users) for (const { socket } of sessions) socket.close();
  await bystander.close();
  await hub.idle();
  await eventually(() => hub.hub.counts().callers === 0, 'no caller left');
  expect(hub.hub.counts()).toMatchObject({
    sessions: 0,
    remotes: 0,
    providers: 0,
    callers: 0,
    pendingCalls: 0,
    runs: 0,
  });
});

/** Waits until the hub has handled what was sent, or the connection is over. */
async function answered(socket: TestSession['socket']): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      socket.off('pong', done).off('close', done);
      resolve();
    };
    socket.on('pong', done).on('close', done);
    socket.ping();
  });
}

/** What kinds of answers came, so that a fuzzer that no longer reaches the hub is noticed. */
function tally(kinds: Map<string, number>, frames: readonly string[]): void {
  for (const text of frames) {
    const { action, code, result } = JSON.parse(text) as { action?: string; code?: string; result?: unknown };
    const kind = code ?? action ?? (result === undefined ? 'reply' : 'result');
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
}

/** Numbers that a seed determines (mulberry32). */
class Dice {
  #state: number;

  constructor(from: number) {
    this.#state = from;
  }

  next(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  of<T>(items: readonly T[]): T {
    const item = items[this.next(items.length)];
    if (item === undefined) throw new RangeError('nothing to choose from');
    return item;
  }
}
