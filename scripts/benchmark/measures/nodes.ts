import { callRows, type CallRow } from '../call-rows.js';
import { alternate, type Comparison, type Window } from '../figures.js';
import type { Options } from '../options.js';
import { RunningNodes, type NodesCpuUs } from '../running-nodes.js';
import type { Settings } from '../settings.js';
import { floorRedis, type NodeTarget } from '../targets.js';
import { callWindow, loadSchema, warmUp, type CallMeasure } from './calls.js';

/** CPU time per call of all three processes is `cpuPerCallUs`; what each of them has of it is told, too. */
type NodeMeasure = CallMeasure | keyof NodesCpuUs;

/** What calls across two nodes cost beside the floor of nodes. */
export type NodeFigures = Readonly<Record<NodeMeasure, Comparison>>;

/** The ways to call that are measured across nodes. */
export const nodeRows: readonly CallRow[] = callRows.filter(({ isAcrossNodes }) => isAcrossNodes);

const WARMING_IN_FLIGHT = 64;

/** Whether any of them is wanted. The short mode has none. */
export function wantsNodes({ only, isShort }: Options): boolean {
  return !isShort && nodeRows.some((row) => only.test(nodesTitle(row)));
}

/** What a row is called where calls to one server have rows of the same title. */
export function nodesTitle({ title }: CallRow): string {
  return `nodes: ${title}`;
}

/** Measures calls across two nodes of a target and of a floor of its own, all new, in alternating windows. */
export async function measureNodes(
  target: NodeTarget,
  row: CallRow,
  settings: Settings,
): Promise<NodeFigures> {
  await using floorRun = await RunningNodes.start(floorRedis, settings.launches);
  await using targetRun = await RunningNodes.start(target, settings.launches);
  for (const run of [floorRun, targetRun]) await warmUpNodes(run, row, settings);
  // awaited here: the nodes end when this function does
  return await alternate(
    settings.pairs,
    async () => measureWindow(floorRun, row, settings),
    async () => measureWindow(targetRun, row, settings),
  );
}

/** Calls as the row says come last; before them many at once, since one at a time code would stay cold for minutes. */
async function warmUpNodes(run: RunningNodes, row: CallRow, settings: Settings): Promise<void> {
  const { inFlight } = row;
  await warmUp(run, { ...row, inFlight: Math.max(inFlight, WARMING_IN_FLIGHT) }, settings);
  await run.prepare('run', { inFlight, windowMs: settings.warmupMs * row.windows });
}

async function measureWindow(
  run: RunningNodes,
  { inFlight, windows }: CallRow,
  settings: Settings,
): Promise<Window<NodeMeasure>> {
  const windowMs = settings.windowMs * windows;
  const { cpuUs, value } = await run.measure('run', { inFlight, windowMs }, loadSchema);
  const { servingNode, callingNode, redis } = cpuUs;
  return {
    ...callWindow(servingNode + callingNode + redis, value),
    servingNode: servingNode / value.calls,
    callingNode: callingNode / value.calls,
    redis: redis / value.calls,
  };
}
