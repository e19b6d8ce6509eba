import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino';
import { redact } from './redaction.js';

export type { Logger } from 'pino';

/** Lines are written together when they are so long, in characters, or this much later, in milliseconds. */
const MIN_CHARACTERS = 16_384;
const FLUSH_MS = 100;

/**
 * How the hub logs: JSON lines with a constant `msg`; arguments, results and credentials stay out.
 * @param destination of the lines; standard output, each at once, unless given
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    formatters: { log: (fields: Record<string, unknown>) => redact(fields) },
    serializers: { err: writeError },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/**
 * Standard output for as long as the process lives, with many lines in one write where nobody is watching: a write for
 * each would be a good part of what a login costs. What is left is written at the exit.
 */
export function bufferedOutput(): DestinationStream {
  if (process.stdout.isTTY) return pino.destination(1);
  const output = pino.destination({ dest: 1, sync: false });
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    output.write(lines);
    lines = '';
  };
  process.once('exit', () => {
    flush();
    output.flushSync();
  });
  return {
    write: (line) => {
      lines += line;
      if (lines.length >= MIN_CHARACTERS) flush();
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
  };
}

/** What a log line shows of an error: its kind, message, stack and fields. Anything may have been thrown. */
function writeError(thrown: unknown): unknown {
  return thrown instanceof Error ? redact({ ...stdSerializers.err(thrown) }) : thrown;
}
