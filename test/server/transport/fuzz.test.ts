import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { startTestHub, type TestHub } from '../../support/hub.js';
import type { TestSession } from '../../support/session.js';

/** Set FUZZ_SEED to repeat a run. */
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
const FRAMES = 20_000;
const names = ['x', 'y', '__proto__', 'a#1'];

const name = fc.constantFrom(...names);
const functionName = fc.constantFrom('f', 'g', 'constructor');
const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), name, fc.constantFrom(0, -1, 1e308, null, true, [], {}));
const schema = fc.constantFrom({ type: 'object' }, {}, { type: 'array' }, { $ref: '#' }, { type: 'object', properties: { a: { type: 'string' } } }, { pattern: '(' }, null);
const tool = fc.record({ name: functionName, description: fc.constant('d'), parameters: schema, result: schema, timeoutMs: fc.constantFrom(1, 50) }, { requiredKeys: ['name', 'description'] });
const goodTools = ['f', 'g'].map((good) => ({ name: good, description: 'd', parameters: { type: 'object' } }));
const tools = fc.oneof({ arbitrary: fc.constant(goodTools), weight: 2 }, fc.array(tool, { maxLength: 2 }));
const remoteConnect = fc.record({ remotename: name, tools });
const requestId = fc.tuple(fc.constantFrom(...names), fc.nat(5)).map(([remote, n]) => `${remote}#${n}`);
const nonce = fc.oneof(fc.nat(20), value);

function request(action: string, body: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  return fc.record({ action: fc.constant(action), nonce, body }, { requiredKeys: ['action', 'body'] });
}

/** Messages that are right, or nearly so. */
const message = fc.oneof(
  { arbitrary: request('remote-connect', remoteConnect), weight: 6 },
  request('remote-disconnect', fc.record({ remotename: name, drain: fc.boolean() })),
  request('remote-list', value),
  { arbitrary: request('remote-call', fc.record({ remotename: name, function: functionName, args: fc.dictionary(fc.constantFrom('a', '__proto__'), value), timeoutMs: fc.constantFrom(1, 20, 1_000) })), weight: 12 },
  request('remote-call-cancel', fc.record({ nonce })),
  { arbitrary: fc.record({ action: fc.constant('remote-call-result'), requestId, result: value, error: fc.constantFrom('e', null) }, { requiredKeys: ['action', 'requestId'] }), weight: 5 },
  fc.record({ action: fc.constant('remote-call-progress'), requestId, progress: value }),
  request('send-agent-prompt', fc.record({ agentId: fc.constantFrom('a', 1), instruction: fc.constantFrom('use x', 'y') , options: fc.oneof(fc.constant({ remotes: ['x', 'y'] }), value) })),
  request('run-cancel', fc.record({ runId: name })),
  request('agent-list', value),
  request('ping', value),
  request('authenticate', fc.record({ token: fc.constantFrom('x', '') })),
  fc.record({ action: fc.oneof(name, value), nonce: value, body: value }, { requiredKeys: [] }),
);

/** The same text with a piece cut out, doubled, replaced or put elsewhere. */
const mutated = fc.tuple(message, fc.nat(), fc.nat(12), fc.constantFrom('', '"', '{', '}', '[', '\\', '\0', ':', ',', '1e', '\uD800', '\\u00')).map(
  ([value_, at, length, piece]) => {
    const text = JSON.stringify(value_);
    const start = at % (text.length + 1);
    return text.slice(0, start) + piece + text.slice(start + (length % 3 === 0 ? 0 : length));
  },
);

const frameData = fc.oneof(
  { arbitrary: message.map((value_) => JSON.stringify(value_)), weight: 8 },
  { arbitrary: mutated, weight: 3 },
  { arbitrary: fc.json({ maxDepth: 4 }), weight: 1 },
  { arbitrary: fc.string({ unit: 'binary', maxLength: 60 }), weight: 1 },
);

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
  return text.replaceAll('"d"', `"of ${userId}"`).replaceAll('"e"', `"of ${userId}"`).replaceAll('"x"', `"x of ${userId}"`);
}

/** Connects a user's session that answers most of the calls that it is sent, in one way or another. */
async function connect(hub: TestHub, userId: string, index: number, dice: Dice): Promise<TestSession> {
  const session = await hub.connect({ user: userId, v1: index % 2 === 0 });
  const answers = [{ result: { a: userId } }, { result: 0 }, { error: 'failed' }, { progress: 1 }, {}];
  session.socket.on('message', (data) => {
    const { action, requestId } = JSON.parse(String(data)) as Record<string, unknown>;
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
  const limits = { maxMessagesPerSecond: 1_000_000, maxAttemptsPerAddress: 1_000_000, callTimeoutMs: 200, maxRemotesPerSession: 20 };
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

  const frames = fc.sample(frameData, { seed, numRuns: FRAMES });
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
    await Promise.all(users.flatMap(({ sessions }) => sessions.map(async ({ isOpen, socket }) => isOpen && answered(socket))));
    for (const each of users) {
      seen.push(...framesOfOthers(each));
      for (const { frames: received } of each.sessions) tally(kinds, received.splice(0));
      await replaceClosed(hub, each, dice);
    }
  }

  expect([...kinds.keys()]).toEqual(expect.arrayContaining(reached));
  expect(kinds.get('remote-call')).toBeGreaterThan(500);
  console.log(JSON.stringify([...kinds]));
  expect(seen).toEqual([]);
  expect(bystander.frames.slice(3)).toEqual([]);
  expect(bystander.frames.filter((frame) => / of u\d/u.test(frame))).toEqual([]);
  await bystander.settle();
  expect(hub.logs.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  for (const { sessions } of users) for (const { socket } of sessions) socket.close();
  await bystander.close();
  await hub.idle();
  await eventually(() => hub.hub.counts().callers === 0, 'no caller left');
  expect(hub.hub.counts()).toMatchObject({ sessions: 0, remotes: 0, providers: 0, callers: 0, pendingCalls: 0, runs: 0 });
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
    const { action, code, result } = JSON.parse(text) as Record<string, unknown>;
    const kind = String(code ?? action ?? (result === undefined ? 'reply' : 'result'));
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
