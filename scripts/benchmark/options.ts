import { parseArgs } from 'node:util';
import { payloadKinds, type PayloadKind } from './payload.js';

/** What `scripts/bench --help` prints. */
export const usage = `scripts/bench [options]

What the hub costs beside a bare relay on ws ("the floor"), and what its peers do: each beside a floor of its own, in
alternating windows. Quote the ratios: they hold where a machine's speed drifts. Run it on a machine that does nothing
else.

  --short           under a minute: the hub beside the floor, without peers and without nodes, few rows
  --pairs N         pairs of windows, 1 to 100 (default 5, with --short 3)
  --only PATTERN    rows whose titles match, such as "small", "nodes" or "idle|fan-out"
  --targets A,B     some of: TARGETS
  --payload KIND    what calls carry from 10 KiB up: rows of a table (rows, the default) or one long text (text)
  --json FILE       writes every figure of every window
  --svg FILE        writes how the cost of a call grows with what a hub holds, as a picture
  --profile FOLDER  every process leaves its CPU profile there; figures suffer
  --help

Exit code 1 when something failed or a reply was not its call's own, never because of a figure. The first run with
peers installs them (npm ci in scripts/benchmark/peers); nats-server is used where it is in PATH,
and redis-server for calls across two nodes.`;

/** What is to be measured. */
export interface Options {
  readonly isShort: boolean;
  readonly pairs: number;
  readonly only: RegExp;
  /** Names; all when there are none. */
  readonly targets: readonly string[];
  readonly payload: PayloadKind;
  readonly jsonFile: string | undefined;
  readonly svgFile: string | undefined;
  readonly profileFolder: string | undefined;
}

/** @returns `undefined` when only help is wanted @throws {TypeError | RangeError} in words for the command line */
export function parseOptions(args: readonly string[], known: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      short: { type: 'boolean', default: false },
      pairs: { type: 'string' },
      only: { type: 'string', default: '' },
      targets: { type: 'string' },
      payload: { type: 'string', default: 'rows' },
      json: { type: 'string' },
      svg: { type: 'string' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const pairs = Number(values.pairs ?? (values.short ? 3 : 5));
  if (!Number.isInteger(pairs) || pairs < 1 || pairs > 100)
    throw new RangeError('--pairs: expected a whole number from 1 to 100');
  const payload = payloadKinds.find((kind) => kind === values.payload);
  if (payload === undefined) throw new RangeError(`--payload: expected one of ${payloadKinds.join(', ')}`);
  return {
    isShort: values.short,
    pairs,
    only: parsePattern(values.only),
    targets: parseTargets(values.targets, known),
    payload,
    jsonFile: values.json,
    svgFile: values.svg,
    profileFolder: values.profile,
  };
}

function parsePattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'iu');
  } catch {
    throw new RangeError('--only: expected a regular expression');
  }
}

function parseTargets(list: string | undefined, known: readonly string[]): string[] {
  const names = list?.split(',') ?? [];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new RangeError(`--targets: ${unknown.join(', ')} unknown; known: ${known.join(', ')}`);
  return names;
}
