import type { CallRow } from '../call-rows.js';
import type { Surroundings } from '../clients/growth.js';
import { compare, type Comparison } from '../figures.js';
import { RunningTarget } from '../running-target.js';
import type { Settings } from '../settings.js';
import { growingHub } from '../targets.js';
import { measureWindow, warmUp } from './calls.js';

/** Something there may be much of, and how much. */
export interface GrowthRow {
  readonly title: string;
  readonly values: readonly number[];
  surround(value: number): Partial<Surroundings> & { readonly sessions?: number };
}

/** CPU time of the hub per call at each of the values, beside the first of them. */
export interface GrowthFigures {
  /** What there is so much of. */
  readonly title: string;
  readonly values: readonly number[];
  readonly cpuPerCallUs: readonly Comparison[];
}

export const growthRows: readonly GrowthRow[] = [
  { title: 'connected sessions', values: [10, 1_000, 10_000], surround: (sessions) => ({ sessions }) },
  { title: 'remotes of the user', values: [1, 100], surround: (remotes) => ({ remotes }) },
  { title: 'functions of the remote', values: [1, 1_000], surround: (functions) => ({ functions }) },
  { title: 'pending calls', values: [10, 10_000], surround: (pendingCalls) => ({ pendingCalls }) },
];

const calls: CallRow = {
  title: 'small, 64 in flight',
  callers: 1,
  inFlight: 64,
  payloadBytes: 0,
  windows: 1,
  isShort: false,
  isAcrossNodes: false,
};

/** Of the connected sessions, these make and answer the calls. */
const CALLING_SESSIONS = 2;

/** Measures one hub for each value, all new, in windows by turns. */
export async function measureGrowth(row: GrowthRow, settings: Settings): Promise<GrowthFigures> {
  const runs: RunningTarget[] = [];
  try {
    for (const value of row.values) {
      const run = await RunningTarget.start(growingHub, settings.launches);
      runs.push(run);
      await surround(run, row.surround(value), settings);
    }
    const windows = await measureByTurns(runs, settings);
    return {
      title: row.title,
      values: row.values,
      cpuPerCallUs: windows.map((ofValue) => compare(windows[0] ?? [], ofValue)),
    };
  } finally {
    for (const run of runs) await run[Symbol.asyncDispose]();
  }
}

/** @returns CPU time per call of each window, by run */
async function measureByTurns(runs: readonly RunningTarget[], settings: Settings): Promise<number[][]> {
  const windows: number[][] = runs.map(() => []);
  for (let pair = 0; pair < settings.pairs; pair += 1) {
    for (const [index, run] of runs.entries())
      windows[index]?.push((await measureWindow(run, calls, settings)).cpuPerCallUs);
  }
  return windows;
}

async function surround(
  run: RunningTarget,
  { sessions = CALLING_SESSIONS, ...surroundings }: ReturnType<GrowthRow['surround']>,
  settings: Settings,
): Promise<void> {
  const all: Surroundings = { remotes: 1, functions: 1, pendingCalls: 0, ...surroundings };
  await run.prepare('surround', all);
  await run.prepare('idle', {
    tokens: await settings.tokens.ofManyUsers(sessions - CALLING_SESSIONS, 1_000),
  });
  await warmUp(run, calls, settings);
}
