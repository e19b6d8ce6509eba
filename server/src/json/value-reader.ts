import type { JsonBytes } from './json-bytes.js';

/** Reads values that must be more than JSON, in the same pass that shows that they are. */
export interface ValueReader {
  /** @returns where the value ends when it is as it should be for certain, else -1: it is to be read in another way then */
  read(json: JsonBytes, start: number, outerDepth: number): number;
}

/** What reads the arguments of a call of this function, where something must. */
export type FindArgumentsReader = (remotename: string, functionName: string) => ValueReader | undefined;
