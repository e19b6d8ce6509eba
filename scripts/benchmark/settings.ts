import type { PayloadKind } from './payload.js';
import type { Launches } from './running-target.js';
import type { TokenIssuer } from './tokens.js';

/** How everything of one run is measured. */
export interface Settings {
  /** Pairs of windows: one of the floor, then one of the target. */
  readonly pairs: number;
  readonly windowMs: number;
  /** Calls that are not measured, before the first pair. */
  readonly warmupMs: number;
  readonly payload: PayloadKind;
  readonly launches: Launches;
  readonly tokens: TokenIssuer;
}
