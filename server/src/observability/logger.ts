import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

/** How the hub logs: JSON lines with a constant `msg`; arguments, results and credentials stay out. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    redact: ['token', 'password', 'authorization', '*.token', '*.password', '*.authorization'],
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
