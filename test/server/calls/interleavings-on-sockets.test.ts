import { array, assert, asyncProperty } from 'fast-check';
import { expect, test, vi } from 'vitest';
import { fakeClock } from '../../support/clock.js';
import { startTestHub, type TestHub } from '../../support/hub.js';
import type { Message, TestSession } from '../../support/session.js';
import { step, users, type Step } from './interleaving-steps.js';

/** Those that serve nothing on sockets, and answer what they were not asked. */
const liars: ReadonlySet<number> = new Set([1, 4]);

/** Sessions on sockets that act as a step says, at once and without waiting for anything. */
class Crowd {
  readonly sent: { session: TestSession; nonces: number[] }[] = [];
  readonly #sessions: TestSession[] = [];
  readonly #instances: string[] = [];
  /** Whom a session has resumed. */
  readonly #earlier = new Map<TestSession, TestSession>();
  #nonce = 0;

  constructor(private readonly hub: TestHub) {}

  /** Somebody new takes a seat, or with `isSame` the instance that sits there or has just been lost. */
  async join(index: number, isSame = false): Promise<void> {
    const session = await this.hub.open(index % 2 === 0 ? ['remotes.v1'] : []);
    const instanceId = (isSame ? this.#instances[index] : undefined) ?? `instance number ${this.sent.length}`;
    const body = { token: await this.hub.token(users[index]), instanceId };
    const { resumed } = await session.request('authenticate', body);
    const earlier = this.#sessions[index];
    if (resumed === true && earlier !== undefined) this.#earlier.set(session, earlier);
    this.#sessions[index] = session;
    this.#instances[index] = instanceId;
    this.sent.push({ session, nonces: [] });
  }

  /** What this session was asked, and those that it resumed. */
  asked(session: TestSession): Message[] {
    const earlier = this.#earlier.get(session);
    const calls = session.others.filter(({ action }) => action === 'remote-call');
    return [...(earlier === undefined ? [] : this.asked(earlier)), ...calls];
  }

  async take(action: Step): Promise<void> {
    if (!('slot' in action)) return;
    const session = this.#sessions[action.slot];
    if (session === undefined) throw new Error('nobody sits there');
    switch (action.do) {
      case 'connect': {
        const { name: remotename, resumeMs } = action;
        const body = { remotename, tools: [{ name: 'f' }], resumeMs };
        return liars.has(action.slot) ? undefined : session.send({ action: 'remote-connect', body });
      }
      case 'disconnect':
        return session.send({
          action: 'remote-disconnect',
          body: { remotename: action.name, drain: action.drain },
        });
      case 'call':
        return this.#call(session, action.name, action.timeoutMs);
      case 'answer':
        return liars.has(action.slot)
          ? this.#lie(session, action.pick, action.kind)
          : this.#answer(session, action.pick, action.kind);
      case 'cancel':
        return session.send({ action: 'remote-call-cancel', body: { nonce: this.#nonce - action.nonce } });
      case 'close':
        if (action.isCallerFirst) session.socket.terminate();
        else session.socket.close();
        return this.join(action.slot);
      case 'lose':
        session.socket.terminate();
        return this.join(action.slot, true);
      case 'return':
        return this.join(action.slot, true);
      case 'silence': // a socket that answers no ping is a test of its own
    }
  }

  async settle(): Promise<void> {
    const open = this.#sessions.filter(({ isOpen }) => isOpen);
    await Promise.all(open.map(async (session) => session.settle()));
  }

  #call(session: TestSession, remotename: string, timeoutMs: number | undefined): void {
    const key = (this.#nonce += 1);
    this.sent.find((entry) => entry.session === session)?.nonces.push(key);
    const body = { remotename, function: 'f', args: { key }, timeoutMs };
    session.send({ action: 'remote-call', nonce: key, body });
  }

  /** Answers one of the calls it was asked, whether it has answered before or not. */
  #answer(session: TestSession, pick: number, kind: string): void {
    const calls = this.asked(session);
    const call = calls[pick % calls.length];
    if (call === undefined) return;
    session.send({ action: actionOf(kind), requestId: call['requestId'], [kind]: call['args'] });
  }

  /** Answers a call that it cannot have been asked, since it serves nothing. */
  #lie(session: TestSession, pick: number, kind: string): void {
    const requestId = `${['a', 'a#0', '#'][pick % 3] ?? ''}#${pick % 5}`;
    session.send({ action: actionOf(kind), requestId, [kind]: { key: 'a lie' } });
  }
}

function actionOf(kind: string): string {
  return kind === 'progress' ? 'remote-call-progress' : 'remote-call-result';
}

test('CALL-17 CALL-22: on sockets, too, every call of a living session is answered once, by the session asked', async () => {
  using clock = fakeClock();
  await assert(
    asyncProperty(array(step, { minLength: 40, maxLength: 80 }), async (steps) => {
      await using hub = await startTestHub({ limits: { callTimeoutMs: 300, maxCallTimeoutMs: 1_000 } });
      const crowd = new Crowd(hub);
      for (const index of users.keys()) await crowd.join(index);
      for (const action of steps) {
        if ('ms' in action) await clock.advance(action.ms);
        else if (action.do === 'settle') await crowd.settle();
        else await crowd.take(action);
      }
      await crowd.settle();
      await clock.advance(1_000); // whatever hangs ends now
      for (const { session, nonces } of crowd.sent) {
        if (session.isOpen) await checkAnswers(session, nonces, crowd.asked(session));
      }
      for (const { session } of crowd.sent) session.socket.terminate();
      await hub.idle();
      expect(hub.hub.counts()).toMatchObject({ remotes: 0, providers: 0, callers: 0, pendingCalls: 0 });
      await hub.hub.close();
      expect(vi.getTimerCount()).toBe(0);
    }),
    { numRuns: 12, endOnFailure: true },
  );
});

async function checkAnswers(
  session: TestSession,
  nonces: readonly number[],
  asked: readonly Message[],
): Promise<void> {
  for (const nonce of nonces) {
    const { result, code } = await session.reply(nonce);
    if (code === undefined) expect(result).toEqual({ key: nonce });
  }
  await session.settle();
  expect(session.replies).toEqual([]); // none was answered twice
  const ids = asked.map(({ requestId }) => requestId);
  expect(new Set(ids).size).toBe(ids.length);
  const isKnown = ids.every((id) => typeof id === 'string' && /^(?:a|a#0|#)#\d+$/u.test(id));
  expect(isKnown).toBe(true);
}
