import type { ValueReader } from './value-reader.js';

/** A member of an object, and where its value stands. */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Where the parts of a message stand. */
export interface MessagePlaces {
  /** In the order they were written; a name may come twice. */
  readonly members: readonly Member[];
  /** Those of `body`, when it is an object. */
  readonly bodyMembers: readonly Member[];
  /** What has read `args` of the body, and found them as they should be. */
  readonly argsReadBy: ValueReader | undefined;
  /** Deepest nesting; the message itself counts 1. */
  readonly depth: number;
}
