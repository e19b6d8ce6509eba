import { median, type Comparison } from './figures.js';
import { RECEIVERS } from './measures/fan-out.js';
import { SESSIONS_PER_STEP, STEPS } from './measures/idle.js';
import { SOCKET_IO_TITLE } from './peers/targets.js';
import type { Measured, Results } from './results.js';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** A column of a table: its heading, and where its figure is. */
interface Column<Figures> {
  readonly heading: string;
  /** What one of the shown unit is in the measured one. */
  readonly unit?: number;
  readonly of: (figures: Figures) => Comparison;
}

/** The results as Markdown: the machine, versions, and a table for each kind of measure. */
export function renderTables(results: Results): string {
  const { command, date, machine, versions, notes, failures } = results;
  const software = [`Node ${machine.node}`, ...Object.entries(versions).map((entry) => entry.join(' '))];
  const { cpu, cores, memoryGib, system } = machine;
  return [
    `\`${command}\`, ${date}; ${cpu}, ${cores} cores, ${memoryGib} GiB, ${system}; ${software.join(', ')}.`,
    'Figures are medians; in brackets the median of the ratios to the floor beside it.',
    ...notes.map((note) => `Note: ${note}.`),
    ...callTables(results.calls),
    ...nodeTables(results.nodes),
    ...idleTable(results.idle),
    ...fanOutTable(results.fanOut),
    ...growthTable(results.growth),
    ...failures.map((failure) => `FAILED: ${failure}`),
  ].join('\n\n');
}

function callTables(calls: Results['calls']): string[] {
  return rowsOf(calls).flatMap((row) =>
    compareTable(
      `calls: ${row}`,
      [
        { heading: 'server CPU per call, us', of: ({ cpuPerCallUs }) => cpuPerCallUs },
        { heading: 'calls/s', of: ({ callsPerSecond }) => callsPerSecond },
        { heading: 'p50, ms', of: ({ p50Ms }) => p50Ms },
        { heading: 'p99, ms', of: ({ p99Ms }) => p99Ms },
        { heading: 'peak RSS, MiB', unit: MIB, of: ({ peakBytes }) => peakBytes },
      ],
      calls.filter((measured) => measured.row === row),
    ),
  );
}

function nodeTables(nodes: Results['nodes']): string[] {
  return rowsOf(nodes).map((row) => {
    const measured = nodes.filter((one) => one.row === row);
    const [headings = [], floorLine = [], ...targetLines] = compareLines(
      row,
      [
        { heading: 'CPU per call, us', of: ({ cpuPerCallUs }) => cpuPerCallUs },
        { heading: "caller's node", of: ({ callingNode }) => callingNode },
        { heading: 'serving node', of: ({ servingNode }) => servingNode },
        { heading: 'Redis', of: ({ redis }) => redis },
        { heading: 'calls/s', of: ({ callsPerSecond }) => callsPerSecond },
        { heading: 'p50, ms', of: ({ p50Ms }) => p50Ms },
        { heading: 'p99, ms', of: ({ p99Ms }) => p99Ms },
      ],
      measured,
    );
    const [toPeer, floorToPeer, ...targetsToPeer] = toSocketIo(measured);
    return table(
      [...headings, toPeer],
      [
        [...floorLine.with(0, 'floor-redis'), floorToPeer],
        ...targetLines.map((line, index) => [...line, targetsToPeer[index] ?? '']),
      ],
    );
  });
}

/** A column of quotients: each target was measured beside a floor of its own, so that the ratios can be compared. */
function toSocketIo(measured: Results['nodes']): [heading: string, floor: string, ...targets: string[]] {
  const ratioOf = ({ figures }: (typeof measured)[number]): number => figures.cpuPerCallUs.medians.ratio;
  const peer = measured.find(({ target }) => target === SOCKET_IO_TITLE);
  const quotient = (ratio: number): string => (peer === undefined ? '' : (ratio / ratioOf(peer)).toFixed(2));
  return [`CPU to ${SOCKET_IO_TITLE}'s`, quotient(1), ...measured.map((one) => quotient(ratioOf(one)))];
}

function idleTable(idle: Results['idle']): string[] {
  const rss = (sessions: number): string => `RSS per session at ${thousands(sessions)}, KiB`;
  return compareTable(
    'idle sessions',
    [
      { heading: 'server CPU per accepted session, us', of: ({ cpuPerSessionUs }) => cpuPerSessionUs },
      { heading: rss(SESSIONS_PER_STEP), unit: KIB, of: ({ bytesAtFirst }) => bytesAtFirst },
      { heading: rss(SESSIONS_PER_STEP * STEPS), unit: KIB, of: ({ bytesAtLast }) => bytesAtLast },
    ],
    idle,
  );
}

function fanOutTable(fanOut: Results['fanOut']): string[] {
  return compareTable(
    `fan-out to ${thousands(RECEIVERS)}`,
    [
      { heading: 'server CPU per delivery, us', of: ({ cpuPerDeliveryUs }) => cpuPerDeliveryUs },
      { heading: 'deliveries/s', of: ({ deliveriesPerSecond }) => deliveriesPerSecond },
    ],
    fanOut,
  );
}

function growthTable(growth: Results['growth']): string[] {
  if (growth.length === 0) return [];
  const lines = growth.map(({ figures }) => [
    figures.title,
    figures.cpuPerCallUs
      .map(
        ({ medians }, index) =>
          `${thousands(figures.values[index] ?? 0)}: ${withRatio(medians.target, medians.ratio)}`,
      )
      .join(', '),
  ]);
  return [table(['how cost grows with', 'server CPU per small call, us (to the first)'], lines)];
}

function compareTable<Figures>(
  title: string,
  columns: readonly Column<Figures>[],
  measured: readonly Measured<Figures>[],
): string[] {
  if (measured.length === 0) return [];
  const [headings = [], ...lines] = compareLines(title, columns, measured);
  return [table(headings, lines)];
}

/** The headings, one line for the floor, by all that ran beside the targets, and one for each target. */
function compareLines<Figures>(
  title: string,
  columns: readonly Column<Figures>[],
  measured: readonly Measured<Figures>[],
): string[][] {
  const floorLine = columns.map(({ of, unit = 1 }) =>
    decimals(median(measured.map(({ figures }) => of(figures).medians.floor)) / unit),
  );
  const targetLines = measured.map(({ target, figures }) => [
    target,
    ...columns.map(({ of, unit = 1 }) => {
      const { medians } = of(figures);
      return withRatio(medians.target / unit, medians.ratio);
    }),
  ]);
  return [[title, ...columns.map(({ heading }) => heading)], ['floor', ...floorLine], ...targetLines];
}

function rowsOf(measured: readonly { readonly row: string }[]): string[] {
  return [...new Set(measured.map(({ row }) => row))];
}

function table(headings: readonly string[], lines: readonly (readonly string[])[]): string {
  const rule = headings.map((_, index) => (index === 0 ? '---' : '---:'));
  return [headings, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function withRatio(value: number, ratio: number): string {
  return `${decimals(value)} (${ratio.toFixed(2)})`;
}

/** Three digits that count, or all before the point. */
function decimals(value: number): string {
  if (value >= 100) return thousands(Math.round(value));
  return value.toPrecision(3);
}

function thousands(value: number): string {
  return value.toLocaleString('en-US');
}
