import * as z from 'zod';
import type { CallRow } from '../call-rows.js';
import type { CallSetup } from '../clients/worker.js';
import { alternate, compare, type Comparison, type Window } from '../figures.js';
import { RunningTarget, type Clients } from '../running-target.js';
import type { Settings } from '../settings.js';
import { floor, type Target } from '../targets.js';

export type CallMeasure = 'cpuPerCallUs' | 'callsPerSecond' | 'p50Ms' | 'p99Ms';

/** What a target's calls cost beside the floor's. The peak has one figure each: of the whole life of the servers. */
export type CallFigures = Readonly<Record<CallMeasure | 'peakBytes', Comparison>>;

/** What a window of calls is answered with. */
export const loadSchema = z.object({
  calls: z.int().min(1),
  seconds: z.number(),
  p50Ms: z.number(),
  p99Ms: z.number(),
});

/** Measures the calls of a target and of a floor of its own, both new, in alternating windows. */
export async function measureCalls(target: Target, row: CallRow, settings: Settings): Promise<CallFigures> {
  await using floorRun = await RunningTarget.start(floor, settings.launches);
  await using targetRun = await RunningTarget.start(target, settings.launches);
  for (const run of [floorRun, targetRun]) await warmUp(run, row, settings);
  const windows = await alternate(
    settings.pairs,
    async () => measureWindow(floorRun, row, settings),
    async () => measureWindow(targetRun, row, settings),
  );
  return {
    ...windows,
    peakBytes: compare([await floorRun.server.peakBytes()], [await targetRun.server.peakBytes()]),
  };
}

/** Connects the clients, checks that each reply reaches its own call, and calls until code and caches are warm. */
export async function warmUp(run: Clients, row: CallRow, settings: Settings): Promise<void> {
  const setup: Omit<CallSetup, 'url' | 'servingUrl'> = {
    tokens: await settings.tokens.ofOneUser(row.callers + 1),
    payload: settings.payload,
    payloadBytes: row.payloadBytes,
    inFlight: row.inFlight,
  };
  await run.prepare('prepare', setup);
  await run.prepare('run', { inFlight: row.inFlight, windowMs: settings.warmupMs * row.windows });
}

/** One window of calls. */
export async function measureWindow(
  run: RunningTarget,
  { inFlight, windows }: CallRow,
  settings: Settings,
): Promise<Window<CallMeasure>> {
  const windowMs = settings.windowMs * windows;
  const { cpuUs, value } = await run.measure('run', { inFlight, windowMs }, loadSchema);
  return callWindow(cpuUs, value);
}

/** What calls gave that cost so much CPU time. */
export function callWindow(
  cpuUs: number,
  { calls, seconds, p50Ms, p99Ms }: z.infer<typeof loadSchema>,
): Window<CallMeasure> {
  return { cpuPerCallUs: cpuUs / calls, callsPerSecond: calls / seconds, p50Ms, p99Ms };
}
