import type { Logger } from '../observability/logger.js';
import { exitCodes } from './exit-codes.js';

/**
 * Logs what nobody caught and ends the process with exit code 1, until it is disposed of: after such an error
 * nobody knows in what state the hub is.
 */
export function reportingCrashes(
  log: Pick<Logger, 'fatal'>,
  exitNow: (exitCode: number) => void,
): Disposable {
  const onRejection = (err: unknown): void => {
    log.fatal({ err }, 'unhandled rejection');
    exitNow(exitCodes.failed);
  };
  const onException = (err: unknown): void => {
    log.fatal({ err }, 'uncaught exception');
    exitNow(exitCodes.failed);
  };
  process.on('unhandledRejection', onRejection).on('uncaughtException', onException);
  return {
    [Symbol.dispose]: () => {
      process.off('unhandledRejection', onRejection).off('uncaughtException', onException);
    },
  };
}
