import type { Close } from './errors.js';

/** Where a session's connection stands. `closed` is final. */
export type HubState = 'connecting' | 'open' | 'reconnecting' | 'closed';

/** A change of state, as the event `state` tells it. */
export interface StateChange {
  readonly state: HubState;
  /** With `reconnecting` and `closed`: how the last connection ended, or why the last attempt failed. */
  readonly close?: Close;
  /** With `reconnecting`: the number of the attempt to come, counted from 1 since the connection was last stable. */
  readonly attempt?: number;
  /** With `reconnecting`: how long it waits, in milliseconds, unless the page wakes up before. */
  readonly delayMs?: number;
}
