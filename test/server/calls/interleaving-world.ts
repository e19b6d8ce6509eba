import { expect, vi } from 'vitest';
import { CallTelemetry } from '../../../server/src/calls/call-telemetry.js';
import { CallerCalls } from '../../../server/src/calls/caller-calls.js';
import { Calls } from '../../../server/src/calls/calls.js';
import { JsonText } from '../../../server/src/json/json-text.js';
import { MessageText } from '../../../server/src/json/message-text.js';
import { createLogger } from '../../../server/src/observability/logger.js';
import { CallCounts } from '../../../server/src/observability/metrics.js';
import { Tracing } from '../../../server/src/observability/tracing.js';
import { RemoteError } from '../../../server/src/remotes/remote-error.js';
import { RemoteRegistry } from '../../../server/src/remotes/remote-registry.js';
import { compileFunctions } from '../../../server/src/remotes/served-functions.js';
import { SessionProviders } from '../../../server/src/remotes/session-providers.js';
import type { ServingSession } from '../../../server/src/remotes/serving-session.js';

const limits = {
  callTimeoutMs: 300,
  maxCallTimeoutMs: 1_000,
  maxCallsInFlight: 5,
  maxRemotesPerSession: 100,
  maxRemotesPerUser: 100,
  maxToolsBytesPerUser: 1_000_000,
};
const { functions } = compileFunctions([{ name: 'f' }], { maxSchemaBytes: 1_024, maxSchemaDepth: 8 });

/** The sessions of one instance that took over from each other: one numbering, one set of calls. */
interface Line {
  /** The session that may answer; none while it is lost. */
  seat: Seat;
  readonly seats: Seat[];
  readonly counts: Map<string, number>;
  isLost: boolean;
}

/** A remote as long as it has a name or calls in flight. */
interface ExpectedRemote {
  readonly line: Line;
  readonly resumeMs: number;
  /** When its calls fail for want of an answer; set while its session is lost. */
  suspendedUntil: number | undefined;
}

/** What should become of a call, and what became of it. */
interface ExpectedCall {
  readonly id: string;
  readonly nonce: number;
  readonly caller: Seat;
  readonly remote: ExpectedRemote | undefined;
  readonly remotename: string;
  readonly timeoutMs: number;
  readonly hardDeadline: number;
  deadline: number;
  outcome: string | undefined;
  /** Its deadline and the wait for its instance ended in the same moment: either may have come first. */
  isTie: boolean;
  /** It ended while nobody could be told. */
  hasEndedUnseen: boolean;
  progress: number;
  readonly seenOutcomes: string[];
  seenProgress: number;
}

/** The parts of one session, without its socket. */
export class Seat implements ServingSession {
  readonly ids: string[] = [];
  readonly cancels = new Map<string, string[]>();
  readonly caller = new CallerCalls(1_000, () => undefined);
  readonly speaksV1 = true;
  readonly endCause = undefined;
  isResumable = false;
  isOpen = true;
  isSilent = false;
  #onEnd: () => void = () => undefined;

  constructor(
    readonly userId: string,
    readonly instanceKey: string,
    private readonly world: World,
  ) {}

  send(text: string): void {
    this.#receive(text);
  }

  async probe(): Promise<boolean> {
    if (this.isSilent) this.world.end(this, 'lost', true);
    return Promise.resolve(this.isOpen);
  }

  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  /** Tells its provider. */
  end(): void {
    this.#onEnd();
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
  readonly seats: Seat[] = [];
  readonly #all: Seat[] = [];
  readonly #providers = new SessionProviders(this.registry);
  readonly #calls = new Calls(
    this.registry,
    new CallTelemetry(new CallCounts(), new Tracing(), createLogger('silent')),
  );
  readonly #expected: ExpectedCall[] = [];
  readonly #lines = new Map<Seat, Line>();
  readonly #names = new Map<string, ExpectedRemote>();
  readonly #events: string[] = [];
  readonly #expectedEvents: string[] = [];

  constructor(users: readonly string[]) {
    for (const [index, user] of users.entries()) this.#take(index, user, undefined);
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

  async connect(seat: Seat, remotename: string, resumeMs: number): Promise<void> {
    const description = { userId: seat.userId, remotename, tools: new JsonText('[]'), functions, resumeMs };
    const key = `${seat.userId} ${remotename}`;
    const holder = this.#names.get(key)?.line.seat;
    const provider = this.#providers.of(seat);
    const outcome = await Promise.resolve()
      .then(async () => {
        await this.registry.yieldGhost(description, provider);
        return this.registry.connect(description, provider);
      })
      .then(
        () => 'connected',
        (error: unknown) => codeOf(error),
      );
    const isFree = holder === undefined || (holder.isSilent && holder !== seat);
    expect(outcome).toBe(isFree ? 'connected' : 'remote-already-connected');
    if (!isFree) return;
    this.#names.set(key, { line: this.#lineOf(seat), resumeMs, suspendedUntil: undefined });
    this.#expectedEvents.push(`+${key}`);
  }

  disconnect(seat: Seat, remotename: string, drain: boolean): void {
    const key = `${seat.userId} ${remotename}`;
    const remote = this.#names.get(key);
    const connection = this.registry.find(seat.userId, remotename);
    expect(connection === undefined).toBe(remote === undefined);
    if (connection === undefined) return;
    this.registry.disconnect(connection, { drain });
    this.#names.delete(key);
    this.#expectedEvents.push(`-${key}`);
    for (const call of this.#pending()) {
      if (call.remote === remote && !drain) this.#ends(call, 'remote-disconnected');
    }
  }

  call(caller: Seat, remotename: string, nonce: number, timeoutMs: number | undefined): void {
    const remote = this.#names.get(`${caller.userId} ${remotename}`);
    const line = remote?.line;
    const unanswered = this.#pending().filter((call) => call.remote?.line === line).length;
    const isFull = unanswered >= limits.maxCallsInFlight;
    const n = line?.counts.get(remotename) ?? 0;
    if (line !== undefined && !isFull) line.counts.set(remotename, n + 1);
    const allowedMs = Math.min(timeoutMs ?? limits.callTimeoutMs, limits.maxCallTimeoutMs);
    const expected: ExpectedCall = {
      id: `${remotename}#${n}`,
      nonce,
      caller,
      remote,
      remotename,
      timeoutMs: allowedMs,
      deadline: Date.now() + allowedMs,
      hardDeadline: Date.now() + limits.maxCallTimeoutMs,
      isTie: false,
      outcome: remote === undefined ? 'remote-not-connected' : isFull ? 'too-many-calls' : undefined,
      hasEndedUnseen: false,
      progress: 0,
      seenOutcomes: [],
      seenProgress: 0,
    };
    this.#expected.push(expected);
    const call = this.#calls.start({
      userId: caller.userId,
      remotename,
      functionName: 'f',
      args: new JsonText('{}'),
      ...(timeoutMs !== undefined && { timeoutMs }),
      onProgress: () => (expected.seenProgress += 1),
    });
    caller.caller.track(call, JsonText.of(nonce), {
      resolve: ({ text }) => expected.seenOutcomes.push(text),
      reject: (error) => expected.seenOutcomes.push(codeOf(error)),
    });
  }

  /** An answer or a sign of progress, from whatever session with whatever id. */
  answer(seat: Seat, requestId: string, kind: 'result' | 'error' | 'progress'): void {
    const line = this.#lines.get(seat);
    const isInPlace = seat.isOpen && line?.seat === seat;
    const call = isInPlace
      ? this.#pending().find(({ remote, id }) => remote?.line === line && id === requestId)
      : undefined;
    const value = `${kind} of ${this.#all.indexOf(seat)}`;
    const text = JSON.stringify({ requestId, [kind]: value });
    const message = MessageText.scan(text);
    if (message === undefined) throw new Error('not a message');
    const fields = { requestId, [kind]: value };
    const provider = this.#providers.find(seat);
    const isTaken =
      kind === 'progress'
        ? provider?.progress({ action: 'remote-call-progress', ...fields }, message)
        : provider?.answer({ action: 'remote-call-result', ...fields }, message);
    expect(isTaken ?? false).toBe(call !== undefined);
    if (call === undefined) return;
    if (kind === 'result') this.#ends(call, JSON.stringify(value));
    else if (kind === 'error') this.#ends(call, 'function-failed');
    else {
      call.progress += 1;
      call.deadline = Math.min(Date.now() + call.timeoutMs, call.hardDeadline);
    }
  }

  async cancel(caller: Seat, nonce: number): Promise<void> {
    const hit = this.#pending().filter((call) => call.caller === caller && call.nonce === nonce);
    const cancelled = caller.caller.cancel(JsonText.of(nonce));
    for (const call of hit) this.#ends(call, 'call-cancelled');
    expect(await cancelled).toBe(hit.length);
  }

  /** The end of a session, by a close frame or without; one of another instance takes its seat. */
  end(seat: Seat, how: 'closed' | 'lost', isCallerFirst: boolean): void {
    if (!seat.isOpen) return;
    this.#leave(seat, how, isCallerFirst);
    this.#take(this.seats.indexOf(seat), seat.userId, undefined);
  }

  /** An instance logs in, whether its last session is still there, was lost, or closed. */
  return(place: Seat, pick: number): void {
    const former = this.anySeat(pick);
    if (former.userId !== place.userId) return;
    const last = this.#all.findLast(({ instanceKey }) => instanceKey === former.instanceKey) ?? former;
    const seat = last.isOpen ? last : place;
    if (seat === last) this.#leave(seat, 'lost', true);
    else this.#leave(seat, 'closed', false);
    this.#take(this.seats.indexOf(seat), seat.userId, last);
  }

  advance(ms: number): void {
    vi.advanceTimersByTime(ms);
    for (const call of this.#pending()) {
      const suspendedUntil = call.remote?.suspendedUntil ?? Number.POSITIVE_INFINITY;
      if (Math.min(call.deadline, suspendedUntil) > Date.now()) continue;
      call.isTie = call.deadline === suspendedUntil;
      this.#ends(call, call.deadline <= suspendedUntil ? 'call-timeout' : 'remote-disconnected');
    }
  }

  /** What must hold between any two steps. */
  check(): void {
    const pending = this.#pending();
    const remotes = [
      ...this.#names.values(),
      ...this.#suspended(),
      ...pending.flatMap(({ remote }) => remote ?? []),
    ];
    expect(this.registry.counts()).toMatchObject({
      remotes: this.#names.size,
      providers: new Set(remotes.map(({ line }) => line)).size,
      pendingCalls: pending.length,
    });
    // the one of all deadlines may outlive the last of them
    const deadlineTimers = vi.getTimerCount() - this.#suspended().size;
    expect([Math.min(1, pending.length), 1]).toContain(deadlineTimers);
  }

  /** What must hold when every session has gone, and nobody may come back. */
  checkEnd(): void {
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
    expect(this.registry.counts()).toEqual({ users: 0, remotes: 0, providers: 0, pendingCalls: 0 });
    expect(this.#providers.size).toBe(0);
    expect(this.#all.map(({ caller }) => caller.size)).toEqual(this.#all.map(() => 0));
    for (const call of this.#expected) {
      const [seen] = call.seenOutcomes;
      if (call.isTie && seen === 'remote-disconnected') call.outcome = seen;
      const { outcome, seenOutcomes, progress, seenProgress } = call;
      expect({ seenOutcomes, seenProgress }).toEqual({ seenOutcomes: [outcome], seenProgress: progress });
    }
    for (const line of new Set(this.#lines.values())) this.#checkLine(line);
    expect(this.#events.toSorted()).toEqual(this.#expectedEvents.toSorted());
  }

  /** Ids are never used twice, and each early end that somebody could be told of is told once. */
  #checkLine(line: Line): void {
    const asked = this.#expected.filter(
      ({ remote, outcome }) => remote?.line === line && outcome !== 'too-many-calls',
    );
    const ids = line.seats.flatMap((seat) => seat.ids);
    expect(ids).toEqual(asked.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, outcome, hasEndedUnseen } of asked) {
      const isAnswered = outcome === 'function-failed' || outcome?.startsWith('"') === true;
      const cancels = line.seats.flatMap((seat) => seat.cancels.get(id) ?? []);
      expect(cancels.length).toBeLessThanOrEqual(isAnswered ? 0 : 1);
      const [reason] = cancels;
      if (reason !== undefined) expect(reason.replace('caller-gone', 'call-cancelled')).toBe(outcome);
      if (outcome === 'call-timeout' && !hasEndedUnseen) expect(reason).toBe('call-timeout');
    }
  }

  /** A new session; of the same instance as `former`, and then it takes over what that one left. */
  #take(index: number, userId: string, former: Seat | undefined): void {
    const seat = new Seat(userId, former?.instanceKey ?? `instance ${this.#all.length}`, this);
    this.#all.push(seat);
    this.seats[index] = seat;
    const line = former && this.#lines.get(former);
    const isResumed =
      line !== undefined && this.#remotesOf(line).some((remote) => this.#suspended().has(remote));
    this.#providers.resume(seat);
    expect(this.#providers.find(seat) !== undefined).toBe(isResumed);
    if (!isResumed) return;
    for (const remote of this.#remotesOf(line)) remote.suspendedUntil = undefined;
    line.seat = seat;
    line.seats.push(seat);
    line.isLost = false;
    this.#lines.set(seat, line);
  }

  #leave(seat: Seat, how: 'closed' | 'lost', isCallerFirst: boolean): void {
    seat.isOpen = false;
    seat.isResumable = how === 'lost';
    const callerLeaves = (): void => {
      seat.caller[Symbol.dispose]();
      for (const call of this.#pending()) if (call.caller === seat) this.#ends(call, 'call-cancelled');
    };
    const serverLeaves = (): void => {
      seat.end();
      const line = this.#lines.get(seat);
      if (line !== undefined) this.#lineEnds(line, how);
    };
    for (const leave of isCallerFirst ? [callerLeaves, serverLeaves] : [serverLeaves, callerLeaves]) leave();
  }

  #lineEnds(line: Line, how: 'closed' | 'lost'): void {
    line.isLost = true;
    for (const [key, { line: holder }] of this.#names) {
      if (holder !== line) continue;
      this.#names.delete(key);
      this.#expectedEvents.push(`-${key}`);
    }
    for (const call of this.#pending()) {
      const { remote } = call;
      if (remote?.line !== line) continue;
      if (how === 'lost' && remote.resumeMs > 0) remote.suspendedUntil = Date.now() + remote.resumeMs;
      else this.#ends(call, 'remote-disconnected');
    }
  }

  #ends(call: ExpectedCall, outcome: string): void {
    call.outcome = outcome;
    call.hasEndedUnseen = call.remote?.line.isLost ?? true;
  }

  #lineOf(seat: Seat): Line {
    let line = this.#lines.get(seat);
    if (line === undefined) {
      line = { seat, seats: [seat], counts: new Map(), isLost: false };
      this.#lines.set(seat, line);
    }
    return line;
  }

  #remotesOf(line: Line): ExpectedRemote[] {
    return this.#expected.flatMap(({ remote }) => (remote?.line === line ? [remote] : []));
  }

  #suspended(): Set<ExpectedRemote> {
    const remotes = this.#expected.flatMap(({ remote }) => remote ?? []);
    return new Set(remotes.filter(({ suspendedUntil }) => (suspendedUntil ?? 0) > Date.now()));
  }

  #pending(): ExpectedCall[] {
    return this.#expected.filter(({ outcome }) => outcome === undefined);
  }
}

function codeOf(error: unknown): string {
  return error instanceof RemoteError ? error.code : String(error);
}
