import * as z from 'zod';
import { compare, type Comparison } from '../figures.js';
import { RunningTarget } from '../running-target.js';
import type { Settings } from '../settings.js';
import { floor, type Target } from '../targets.js';

/** What sessions that do nothing cost a server, beside bare idle connections of the floor. */
export interface IdleFigures {
  /** To let one in: the hub checks its token. */
  readonly cpuPerSessionUs: Comparison;
  /** Resident memory per session when so many are connected. */
  readonly bytesAtFirst: Comparison;
  readonly bytesAtLast: Comparison;
}

/** Sessions are opened in so many steps of so many: 2,000 to 10,000. */
export const SESSIONS_PER_STEP = 2_000;
export const STEPS = 5;

/** Opened before anything is measured. */
const WARM_SESSIONS = 300;

/** The sessions belong to so many users, two or so each: every login is told to the user's other sessions. */
const USERS = 5_000;

/** One round: what each step of the two servers took, and their memory after the first and after the last. */
interface Round {
  readonly floorCpuUs: number[];
  readonly targetCpuUs: number[];
  readonly floorBytes: number[];
  readonly targetBytes: number[];
}

/** Measures some rounds, each of a floor and a target that are new, step by step in turns. */
export async function measureIdle(target: Target, settings: Settings): Promise<IdleFigures> {
  const rounds = Math.min(target.idleRounds, settings.pairs);
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await measureRound(target, settings));
  const bytesAt = (which: number): Comparison =>
    compare(
      measured.map(({ floorBytes }) => floorBytes.at(which) ?? Number.NaN),
      measured.map(({ targetBytes }) => targetBytes.at(which) ?? Number.NaN),
    );
  return {
    cpuPerSessionUs: compare(
      measured.flatMap(({ floorCpuUs }) => floorCpuUs),
      measured.flatMap(({ targetCpuUs }) => targetCpuUs),
    ),
    bytesAtFirst: bytesAt(0),
    bytesAtLast: bytesAt(-1),
  };
}

async function measureRound(target: Target, { tokens, launches }: Settings): Promise<Round> {
  const issued = await tokens.ofManyUsers(WARM_SESSIONS + STEPS * SESSIONS_PER_STEP, USERS);
  await using floorServer = await IdleServer.start(floor, issued, launches);
  await using targetServer = await IdleServer.start(target, issued, launches);
  for (const server of [floorServer, targetServer]) await server.warmUp();
  const round: Round = { floorCpuUs: [], targetCpuUs: [], floorBytes: [], targetBytes: [] };
  for (let step = 0; step < STEPS; step += 1) {
    round.floorCpuUs.push(await floorServer.open(SESSIONS_PER_STEP));
    round.targetCpuUs.push(await targetServer.open(SESSIONS_PER_STEP));
    // a full collection slows the logins after it, which no server's own does: only where memory is told
    if (step > 0 && step < STEPS - 1) continue;
    round.floorBytes.push(await floorServer.bytesPerSession());
    round.targetBytes.push(await targetServer.bytesPerSession());
  }
  return round;
}

/** A server that lets sessions in, and what they have cost it. */
class IdleServer implements AsyncDisposable {
  #bytesBefore = 0;
  #opened = 0;

  private constructor(
    private readonly run: RunningTarget,
    private readonly tokens: string[],
  ) {}

  static async start(
    target: Target,
    tokens: readonly string[],
    launches: Settings['launches'],
  ): Promise<IdleServer> {
    return new IdleServer(await RunningTarget.start(target, launches), [...tokens]);
  }

  /** Opens a few sessions; what is told later is told of those after them. */
  async warmUp(): Promise<void> {
    await this.open(WARM_SESSIONS);
    this.#bytesBefore = await this.run.server.collectedBytes();
    this.#opened = 0;
  }

  /** @returns CPU time per session that was opened, in microseconds */
  async open(count: number): Promise<number> {
    const tokens = this.tokens.splice(0, count);
    const { cpuUs } = await this.run.measure('idle', { tokens }, z.int());
    this.#opened += count;
    return cpuUs / count;
  }

  async bytesPerSession(): Promise<number> {
    return ((await this.run.server.collectedBytes()) - this.#bytesBefore) / this.#opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run[Symbol.asyncDispose]();
  }
}
