/**
 * What the hub costs beside a bare relay, in one run: `scripts/bench [pairs]` (default 5 pairs, under a minute).
 * Windows of the two alternate; quote the ratios, a machine's speed drifts.
 */
import { parseArgs } from 'node:util';
import { Caller, serveEcho } from './load.js';
import { Target } from './targets.js';

interface Window {
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly cpuPerCallUs: number;
}

interface Row {
  readonly title: string;
  readonly calls: number;
  readonly inFlight: number;
  readonly payloadBytes: number;
}

const rows: Row[] = [
  { title: 'small, 64 in flight', calls: 20_000, inFlight: 64, payloadBytes: 0 },
  { title: 'small, 1 in flight', calls: 3_000, inFlight: 1, payloadBytes: 0 },
  { title: '10 KiB, 64 in flight', calls: 4_000, inFlight: 64, payloadBytes: 10_240 },
];

const { positionals } = parseArgs({ allowPositionals: true });
const pairs = Number(positionals[0] ?? 5);
if (!Number.isInteger(pairs) || pairs < 1 || pairs > 100)
  throw new RangeError('pairs: expected a whole number from 1 to 100');

using floor = await Target.start('floor');
using hub = await Target.start('hub');
console.log(`node ${process.version}, ${pairs} pairs of windows, medians; ratio = hub / floor`);
for (const row of rows) console.log(`${row.title}: ${await compare(row)}`);
process.exit(0);

async function compare(row: Row): Promise<string> {
  const floorWindows: Window[] = [];
  const hubWindows: Window[] = [];
  for (const target of [floor, hub]) await measure(target, { ...row, calls: Math.ceil(row.calls / 4) });
  for (let pair = 0; pair < pairs; pair += 1) {
    floorWindows.push(await measure(floor, row));
    hubWindows.push(await measure(hub, row));
  }
  const show = (what: keyof Window, unit: string): string => {
    const ratios = hubWindows.map(
      (window, index) => window[what] / (floorWindows[index]?.[what] ?? Number.NaN),
    );
    const figure = (windows: Window[]): string =>
      median(windows.map((window) => window[what])).toPrecision(4);
    return `${unit} floor ${figure(floorWindows)}, hub ${figure(hubWindows)}, ratio ${median(ratios).toFixed(2)}`;
  };
  return [
    show('callsPerSecond', 'calls/s'),
    show('p50Ms', 'p50 ms'),
    show('cpuPerCallUs', 'CPU us a call'),
  ].join(' | ');
}

async function measure(target: Target, { calls, inFlight, payloadBytes }: Row): Promise<Window> {
  const serving = await serveEcho(target);
  const caller = await Caller.open(target, payloadBytes);
  const cpuBefore = await target.cpu();
  const { seconds, latencies } = await caller.run(calls, inFlight);
  const cpuPerCallUs = ((await target.cpu()) - cpuBefore) / calls;
  caller.close();
  serving.close();
  await new Promise((resolve) => {
    serving.once('close', resolve);
  });
  return { callsPerSecond: calls / seconds, p50Ms: median(latencies), cpuPerCallUs };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
