import type { CallFigures } from './measures/calls.js';
import type { FanOutFigures } from './measures/fan-out.js';
import type { GrowthFigures } from './measures/growth.js';
import type { IdleFigures } from './measures/idle.js';
import type { NodeFigures } from './measures/nodes.js';
import type { Machine } from './machine.js';

/** Figures of one target in one row. */
export interface Measured<Figures> {
  readonly row: string;
  readonly target: string;
  readonly figures: Figures;
}

/** All of one run: what is printed as tables and written as JSON. */
export interface Results {
  readonly date: string;
  readonly command: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  /** What a reader of the figures must know: pinning, peers that are not here. */
  readonly notes: string[];
  readonly calls: Measured<CallFigures>[];
  readonly nodes: Measured<NodeFigures>[];
  readonly idle: Measured<IdleFigures>[];
  readonly fanOut: Measured<FanOutFigures>[];
  readonly growth: Measured<GrowthFigures>[];
  readonly failures: string[];
}
