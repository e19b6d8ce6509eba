import type { JsonText } from './json-text.js';
import type { ValueReader } from './value-reader.js';

/** A message with the text of its parts, so that some of them can be passed on as they were written. */
export interface WrittenMessage {
  readonly text: string;
  /** Whether it is known to be well-formed JSON. */
  readonly isWellFormed: boolean;
  /** Deepest nesting; the message itself counts 1. */
  readonly depth: number;
  /** What has read `args` of the body, and found them as they should be. */
  readonly argsReadBy: ValueReader | undefined;
  /** The text of a member's value; of two with one name the last, as in `JSON.parse`. */
  member(name: string): JsonText | undefined;
  /** The same, of a member of `body`. */
  bodyMember(name: string): JsonText | undefined;
}
