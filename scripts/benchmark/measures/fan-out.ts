import * as z from 'zod';
import { alternate, type Comparison, type Window } from '../figures.js';
import { RunningTarget } from '../running-target.js';
import type { Settings } from '../settings.js';
import { fanOutFloor, type Target } from '../targets.js';

type FanOutMeasure = 'cpuPerDeliveryUs' | 'deliveriesPerSecond';

/** What it costs to tell everybody, beside a relay that sends one text to each of its sockets. */
export type FanOutFigures = Readonly<Record<FanOutMeasure, Comparison>>;

/** Sessions that are told, of one user. */
export const RECEIVERS = 1_000;

const fanOutSchema = z.object({ deliveries: z.int().min(1), seconds: z.number() });

/** Measures a target and a floor of its own, both new, in alternating windows. */
export async function measureFanOut(target: Target, settings: Settings): Promise<FanOutFigures> {
  await using floorRun = await RunningTarget.start(fanOutFloor, settings.launches);
  await using targetRun = await RunningTarget.start(target, settings.launches);
  for (const run of [floorRun, targetRun]) await warmUp(run, settings);
  // awaited here: the servers end when this function does
  return await alternate(
    settings.pairs,
    async () => measureWindow(floorRun, settings),
    async () => measureWindow(targetRun, settings),
  );
}

async function warmUp(run: RunningTarget, { tokens, warmupMs }: Settings): Promise<void> {
  await run.prepare('receivers', { tokens: await tokens.ofOneUser(RECEIVERS) });
  await run.prepare('publish', { windowMs: warmupMs });
}

async function measureWindow(run: RunningTarget, { windowMs }: Settings): Promise<Window<FanOutMeasure>> {
  const { cpuUs, value } = await run.measure('publish', { windowMs }, fanOutSchema);
  return {
    cpuPerDeliveryUs: cpuUs / value.deliveries,
    deliveriesPerSecond: value.deliveries / value.seconds,
  };
}
