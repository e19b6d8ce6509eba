/** `scripts/bench`: what the hub costs beside a bare relay, and its peers beside theirs. See `options.ts`. */
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { buildPrograms } from './build.js';
import { choosePinning, type Pinning } from './cores.js';
import { describeMachine, versionOf } from './machine.js';
import { wantsNodes } from './measures/nodes.js';
import { parseOptions, usage, type Options } from './options.js';
import type { Results } from './results.js';
import { installPeers, natsVersion } from './peers/install.js';
import { peerTargets } from './peers/targets.js';
import { findRedis } from './redis-server.js';
import { measureAll } from './run.js';
import type { Launches } from './running-target.js';
import { drawPanels } from './svg.js';
import { renderTables } from './tables.js';
import {
  fanOutFloor,
  floor,
  floorRedis,
  growingHub,
  hubTargets,
  pipelinedFloor,
  withNodes,
  type NodeTarget,
  type Target,
} from './targets.js';
import { TokenIssuer } from './tokens.js';

/** Of a machine that does something else too, which shows in the figures. */
const BUSY_LOAD = 0.5;

const known = [...hubTargets, ...peerTargets];
const knownNames = [...known, pipelinedFloor].map(({ name }) => name);

try {
  const options = parseOptions(process.argv.slice(2), knownNames);
  if (options === undefined) console.log(usage.replace('TARGETS', knownNames.join(', ')));
  else process.exitCode = await bench(options);
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

/** @returns the exit code */
async function bench(options: Options): Promise<number> {
  const wanted = known.filter(({ name }) => isWanted(name, options));
  const peers = installPeers(wanted.filter((target) => peerTargets.includes(target)));
  const targets = [...wanted.filter((target) => hubTargets.includes(target)), ...peers.available];
  const nodes = findRedis(
    wantsNodes(options)
      ? [...[pipelinedFloor].filter(({ name }) => isWanted(name, options)), ...withNodes(targets)]
      : [],
  );
  await buildPrograms(programsOf(targets, nodes.available));
  const pinning = choosePinning();
  await using tokens = new TokenIssuer();
  const settings = {
    pairs: options.pairs,
    windowMs: options.isShort ? 250 : 600,
    warmupMs: options.isShort ? 900 : 2_500,
    payload: options.payload,
    launches: launchesOf(pinning, options),
    tokens,
  };
  const [load = 0] = loadavg();
  const busyness = load > BUSY_LOAD ? [`the machine was busy before: its load was ${load.toFixed(1)}`] : [];
  const began = performance.now();
  const progress = (text: string): void =>
    console.error(`${((performance.now() - began) / 1_000).toFixed(0).padStart(4)} s  ${text}`);
  const measures = await measureAll(targets, nodes.available, options, settings, progress);
  const results: Results = {
    date: new Date().toISOString().slice(0, 10),
    command: ['scripts/bench', ...process.argv.slice(2)].join(' '),
    machine: describeMachine(),
    versions: { ...versionsOf([floor, ...targets]), ...nodes.versions },
    notes: [
      ...(typeof pinning === 'string' ? [pinning] : []),
      ...busyness,
      ...peers.missing,
      ...nodes.missing,
    ],
    ...measures,
  };
  console.log(renderTables(results));
  if (options.jsonFile !== undefined) writeFileSync(options.jsonFile, JSON.stringify(results, null, 2));
  if (options.svgFile !== undefined && results.growth.length > 0)
    writeFileSync(options.svgFile, plotGrowth(results));
  return results.failures.length > 0 ? 1 : 0;
}

function programsOf(targets: readonly Target[], nodes: readonly NodeTarget[]): string[] {
  return [
    'servers/redis',
    ...[floor, fanOutFloor, growingHub, ...targets].flatMap(({ server, clients }) => [server, clients]),
    ...[floorRedis, ...nodes].flatMap(({ node, clients }) => [node, clients]),
  ];
}

function plotGrowth({ growth, machine, date }: Results): string {
  const panels = growth.map(({ figures }) => ({
    title: figures.title,
    points: figures.cpuPerCallUs.map(({ medians }, index) => ({
      label: (figures.values[index] ?? 0).toLocaleString('en-US'),
      value: medians.target,
    })),
  }));
  const unit = `microseconds of the hub's CPU time, 64 calls in flight; ${machine.cpu}, ${date}`;
  return drawPanels('What a small call costs, by what else the hub holds', unit, panels);
}

function launchesOf(pinning: Pinning | string, { profileFolder }: Options): Launches {
  const { server, clients } = typeof pinning === 'string' ? {} : pinning;
  return { server: { core: server, profileFolder }, clients: { core: clients, profileFolder } };
}

/** The short mode needs no peers. */
function isWanted(name: string, { targets, isShort }: Options): boolean {
  if (targets.length > 0) return targets.includes(name);
  return !isShort || hubTargets.some((target) => target.name === name);
}

function versionsOf(targets: readonly Target[]): Record<string, string> {
  const versions = new Map<string, string>();
  for (const target of targets) {
    const from = peerTargets.includes(target) ? new URL('peers/main.js', import.meta.url) : import.meta.url;
    for (const name of target.packages) versions.set(name, versionOf(name, from));
    if (target.name === 'nats') versions.set('nats-server', natsVersion());
  }
  return Object.fromEntries(versions);
}
