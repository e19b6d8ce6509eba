import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino';
import { redact } from './redaction.js';

export type { Logger } from 'pino';

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

/** What a log line shows of an error: its kind, message, stack and fields. Anything may have been thrown. */
function writeError(thrown: unknown): unknown {
  return thrown instanceof Error ? redact({ ...stdSerializers.err(thrown) }) : thrown;
}
