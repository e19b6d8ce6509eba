import type { Readable } from 'node:stream';
import type { Environment } from '../config/load-config.js';
import type { Output } from './output.js';

/** What a command may use of its process. */
export interface CommandContext {
  readonly env: Environment;
  readonly output: Output;
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };
  /** Asks something on standard error, without ending the line. */
  readonly prompt: (text: string) => void;
  /** Ends the process now: a command that was told to stop twice. */
  readonly exitNow: (exitCode: number) => void;
}
