import { expect, vi } from 'vitest';
import { CallerCalls } from '../../../server/src/calls/caller-calls.js';
import { Calls } from '../../../server/src/calls/calls.js';
import { JsonText } from '../../../server/src/json/json-text.js';
import { MessageText } from '../../../server/src/json/message-text.js';
import { RemoteError } from '../../../server/src/remotes/remote-error.js';
import { RemoteRegistry } from '../../../server/src/remotes/remote-registry.js';
import { compileFunctions } from '../../../server/src/remotes/served-functions.js';
import { SessionProvider } from '../../../server/src/remotes/session-provider.js';

const limits = {
  callTimeoutMs: 300,
  maxCallTimeoutMs: 1_000,
  maxCallsInFlight: 5,
  maxRemotesPerSession: 100,
  maxRemotesPerUser: 100,
  maxToolsBytesPerUser: 1_000_000,
};
const { functions } = compileFunctions([{ name: 'f' }], { maxSchemaBytes: 1_024, maxSchemaDepth: 8 });

/** What should become of a call, and what became of it. */
interface ExpectedCall {
  readonly id: string;
  readonly nonce: number;
  readonly caller: Seat;
  readonly server: Seat | undefined;
  readonly remotename: string;
  readonly timeoutMs: number;
  readonly hardDeadline: number;
  deadline: number;
  isDraining: boolean;
  outcome: string | undefined;
  progress: number;
  readonly seenOutcomes: string[];
  seenProgress: number;
}

/** The parts of one session, without its socket. */
export class Seat {
  readonly ids: string[] = [];
  readonly cancels = new Map<string, string[]>();
  readonly counts = new Map<string, number>();
  readonly caller = new CallerCalls(1_000);
  readonly provider: SessionProvider;
  isOpen = true;
  isSilent = false;

  constructor(
    readonly user: string,
    private readonly world: World,
  ) {
    const session = {
      speaksV1: true,
      endCause: undefined,
      send: (text: string) => this.#receive(text),
      probe: async () => {
        if (this.isSilent) this.world.close(this, true);
        return Promise.resolve(this.isOpen);
      },
    };
    this.provider = new SessionProvider(session, (provider) => world.registry.disconnectProvider(provider));
  }

  #receive(text: string): void {
    if (!this.isOpen) return;
    const { action, requestId, reason } = JSON.parse(text) as Record<string, string>;
    if (requestId === undefined) throw new Error(`no call: ${text}`);
    if (action === 'remote-call') this.ids.push(requestId);
    else this.cancels.set(requestId, [...(this.cancels.get(requestId) ?? []), reason ?? '']);
  }
}

/** The registry and the road of calls, beside a plain model of what should happen to each call. */
export class World {
  readonly registry = new RemoteRegistry(limits, {
    remoteConnected: ({ userId, remotename }) => this.#events.push(`+${userId} ${remotename}`),
    remoteDisconnected: ({ userId, remotename }) => this.#events.push(`-${userId} ${remotename}`),
  });
  readonly seats: Seat[];
  readonly #all: Seat[];
  readonly #calls = new Calls(this.registry);
  readonly #expected: ExpectedCall[] = [];
  readonly #names = new Map<string, Seat>();
  readonly #events: string[] = [];
  readonly #expectedEvents: string[] = [];

  constructor(users: readonly string[]) {
    this.seats = users.map((user) => new Seat(user, this));
    this.#all = [...this.seats];
  }

  /** Every session there was, the closed ones included. */
  anySeat(index: number): Seat {
    return this.#all[index % this.#all.length] ?? this.seat(0);
  }

  seat(index: number): Seat {
    const seat = this.seats[index % this.seats.length];
    if (seat === undefined) throw new Error('no seats');
    return seat;
  }

  async connect(seat: Seat, remotename: string): Promise<void> {
    const description = { userId: seat.user, remotename, tools: new JsonText('[]'), functions };
    const key = `${seat.user} ${remotename}`;
    const holder = this.#names.get(key);
    const outcome = await Promise.resolve()
      .then(async () => this.registry.connectOrProbe(description, seat.provider))
      .then(
        () => 'connected',
        (error: unknown) => codeOf(error),
      );
    const isFree = holder === undefined || (holder.isSilent && holder !== seat);
    expect(outcome).toBe(isFree ? 'connected' : 'remote-already-connected');
    if (!isFree) return;
    this.#names.set(key, seat);
    this.#expectedEvents.push(`+${key}`);
  }

  disconnect(seat: Seat, remotename: string, drain: boolean): void {
    const key = `${seat.user} ${remotename}`;
    const holder = this.#names.get(key);
    if (holder === undefined) {
      expect(() => this.registry.disconnect(seat.user, remotename, { drain })).toThrow(RemoteError);
      return;
    }
    this.registry.disconnect(seat.user, remotename, { drain });
    this.#names.delete(key);
    this.#expectedEvents.push(`-${key}`);
    for (const call of this.#pending()) {
      const isHit = call.server === holder && call.remotename === remotename && !call.isDraining;
      if (isHit && drain) call.isDraining = true;
      else if (isHit) call.outcome = 'remote-disconnected';
    }
  }

  call(caller: Seat, remotename: string, nonce: number, timeoutMs: number | undefined): void {
    const server = this.#names.get(`${caller.user} ${remotename}`);
    const isFull = this.#pending().filter((call) => call.server === server).length >= limits.maxCallsInFlight;
    const n = server?.counts.get(remotename) ?? 0;
    if (server !== undefined && !isFull) server.counts.set(remotename, n + 1);
    const allowedMs = Math.min(timeoutMs ?? limits.callTimeoutMs, limits.maxCallTimeoutMs);
    const expected: ExpectedCall = {
      id: `${remotename}#${n}`,
      nonce,
      caller,
      server,
      remotename,
      timeoutMs: allowedMs,
      deadline: Date.now() + allowedMs,
      hardDeadline: Date.now() + limits.maxCallTimeoutMs,
      isDraining: false,
      outcome: server === undefined ? 'remote-not-connected' : isFull ? 'too-many-calls' : undefined,
      progress: 0,
      seenOutcomes: [],
      seenProgress: 0,
    };
    this.#expected.push(expected);
    const call = this.#calls.start({
      userId: caller.user,
      remotename,
      functionName: 'f',
      args: new JsonText('{}'),
      ...(timeoutMs !== undefined && { timeoutMs }),
      onProgress: () => (expected.seenProgress += 1),
    });
    caller.caller.track(call, JsonText.of(nonce)).then(
      ({ text }) => expected.seenOutcomes.push(text),
      (error: unknown) => expected.seenOutcomes.push(codeOf(error)),
    );
  }

  /** An answer or a sign of progress, from whatever session with whatever id. */
  answer(seat: Seat, requestId: string, kind: 'result' | 'error' | 'progress'): void {
    const call = this.#pending().find(({ server, id }) => server === seat && id === requestId);
    const value = `${kind} of ${this.#all.indexOf(seat)}`;
    const text = JSON.stringify({ requestId, [kind]: value });
    const message = MessageText.scan(text);
    if (message === undefined) throw new Error('not a message');
    const fields = { requestId, [kind]: value };
    const isTaken =
      kind === 'progress'
        ? seat.provider.progress({ action: 'remote-call-progress', ...fields }, message)
        : seat.provider.answer({ action: 'remote-call-result', ...fields }, message);
    expect(isTaken).toBe(call !== undefined);
    if (call === undefined) return;
    if (kind === 'result') call.outcome = JSON.stringify(value);
    else if (kind === 'error') call.outcome = 'function-failed';
    else {
      call.progress += 1;
      call.deadline = Math.min(Date.now() + call.timeoutMs, call.hardDeadline);
    }
  }

  cancel(caller: Seat, nonce: number): void {
    const hit = this.#pending().filter((call) => call.caller === caller && call.nonce === nonce);
    expect(caller.caller.cancel(JsonText.of(nonce))).toBe(hit.length);
    for (const call of hit) call.outcome = 'call-cancelled';
  }

  /** The end of a session; another of the same user takes its seat. */
  close(seat: Seat, isCallerFirst: boolean): void {
    if (!seat.isOpen) return;
    seat.isOpen = false;
    const ends = [
      { parts: seat.caller, hits: (call: ExpectedCall) => call.caller === seat, code: 'call-cancelled' },
      {
        parts: seat.provider,
        hits: (call: ExpectedCall) => call.server === seat,
        code: 'remote-disconnected',
      },
    ];
    for (const { parts, hits, code } of isCallerFirst ? ends : ends.toReversed()) {
      parts[Symbol.dispose]();
      for (const call of this.#pending().filter(hits)) call.outcome = code;
    }
    for (const [key, holder] of this.#names) {
      if (holder !== seat) continue;
      this.#names.delete(key);
      this.#expectedEvents.push(`-${key}`);
    }
    const successor = new Seat(seat.user, this);
    this.#all.push(successor);
    this.seats[this.seats.indexOf(seat)] = successor;
  }

  advance(ms: number): void {
    vi.advanceTimersByTime(ms);
    for (const call of this.#pending()) if (call.deadline <= Date.now()) call.outcome = 'call-timeout';
  }

  /** What must hold between any two steps. */
  check(): void {
    expect(this.registry.counts()).toMatchObject({
      remotes: this.#names.size,
      pendingCalls: this.#pending().length,
    });
    expect(vi.getTimerCount()).toBe(this.#pending().length);
  }

  /** What must hold when every session has gone. */
  checkEnd(): void {
    expect(vi.getTimerCount()).toBe(0);
    expect(this.registry.counts()).toEqual({ users: 0, remotes: 0, providers: 0, pendingCalls: 0 });
    expect(this.#all.map(({ caller }) => caller.size)).toEqual(this.#all.map(() => 0));
    for (const { outcome, seenOutcomes, progress, seenProgress } of this.#expected) {
      expect({ seenOutcomes, seenProgress }).toEqual({ seenOutcomes: [outcome], seenProgress: progress });
    }
    for (const seat of this.#all) this.#checkServer(seat);
    expect(this.#events.toSorted()).toEqual(this.#expectedEvents.toSorted());
  }

  /** Ids are never used twice, and each early end but that of the session itself is told once. */
  #checkServer(seat: Seat): void {
    const asked = this.#expected.filter(
      ({ server, outcome }) => server === seat && outcome !== 'too-many-calls',
    );
    expect(seat.ids).toEqual(asked.map(({ id }) => id));
    expect(new Set(seat.ids).size).toBe(seat.ids.length);
    for (const { id, outcome } of asked) {
      const isAnswered = outcome === 'function-failed' || outcome?.startsWith('"') === true;
      const cancels = seat.cancels.get(id) ?? [];
      expect(cancels.length).toBeLessThanOrEqual(isAnswered ? 0 : 1);
      const [reason] = cancels;
      if (reason !== undefined) expect(reason.replace('caller-gone', 'call-cancelled')).toBe(outcome);
      if (outcome === 'call-timeout') expect(reason).toBe('call-timeout');
    }
  }

  #pending(): ExpectedCall[] {
    return this.#expected.filter(({ outcome }) => outcome === undefined);
  }
}

function codeOf(error: unknown): string {
  return error instanceof RemoteError ? error.code : String(error);
}
