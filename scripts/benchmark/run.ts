import { callRows } from './call-rows.js';
import { measureCalls } from './measures/calls.js';
import { measureFanOut } from './measures/fan-out.js';
import { growthRows, measureGrowth } from './measures/growth.js';
import { measureIdle } from './measures/idle.js';
import { measureNodes, nodeRows, nodesTitle } from './measures/nodes.js';
import type { Options } from './options.js';
import type { Measured, Results } from './results.js';
import type { Settings } from './settings.js';
import type { NodeTarget, Target } from './targets.js';

type Measures = Pick<Results, 'calls' | 'nodes' | 'idle' | 'fanOut' | 'growth' | 'failures'>;

/** One row of one target, not measured yet. */
interface Task {
  readonly row: string;
  readonly target: string;
  readonly run: () => Promise<void>;
}

/**
 * Measures every row that is wanted, of every target; what fails is told, and the rest goes on.
 * @param progress told what begins
 */
export async function measureAll(
  targets: readonly Target[],
  nodeTargets: readonly NodeTarget[],
  options: Options,
  settings: Settings,
  progress: (text: string) => void,
): Promise<Measures> {
  const measures: Measures = { calls: [], nodes: [], idle: [], fanOut: [], growth: [], failures: [] };
  const tasks = plan(targets, nodeTargets, settings, measures).filter(({ row }) => options.only.test(row));
  const shortRows = new Set(callRows.filter(({ isShort }) => isShort).map(({ title }) => title));
  for (const { row, target, run } of tasks.filter((task) => !options.isShort || shortRows.has(task.row))) {
    progress(`${row}: ${target}`);
    try {
      await run();
    } catch (error) {
      measures.failures.push(`${row}, ${target}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return measures;
}

/** Everything that can be measured of these targets, in the order of the tables. */
function plan(
  targets: readonly Target[],
  nodeTargets: readonly NodeTarget[],
  settings: Settings,
  measures: Measures,
): Task[] {
  const task = <Figures>(
    into: Measured<Figures>[],
    row: string,
    target: string,
    measure: () => Promise<Figures>,
  ): Task => ({
    row,
    target,
    run: async () => void into.push({ row, target, figures: await measure() }),
  });
  const { calls, nodes, idle, fanOut, growth } = measures;
  return [
    ...callRows.flatMap((row) =>
      targets.map((target) =>
        task(calls, row.title, target.title, async () => measureCalls(target, row, settings)),
      ),
    ),
    ...nodeRows.flatMap((row) =>
      nodeTargets.map((target) =>
        task(nodes, nodesTitle(row), target.title, async () => measureNodes(target, row, settings)),
      ),
    ),
    ...targets
      .filter(({ idleRounds }) => idleRounds > 0)
      .map((target) => task(idle, 'idle sessions', target.title, async () => measureIdle(target, settings))),
    ...targets
      .filter(({ fansOut }) => fansOut)
      .map((target) => task(fanOut, 'fan-out', target.title, async () => measureFanOut(target, settings))),
    ...(targets.some(({ name }) => name === 'hub') ? growthRows : []).map((row) =>
      task(growth, `growth: ${row.title}`, 'hub', async () => measureGrowth(row, settings)),
    ),
  ];
}
