import { MAX_ERROR_LENGTH, type Executed } from '@remotes-hub/protocol';
import { RemoteError } from './remote-error.js';

const BLANK = 'the function failed without a message';

/**
 * A function's own failure, as text for the caller: the message, never the stack. It takes whatever was thrown
 * or sent, and does not throw itself.
 */
export function functionFailed(error: unknown, executed: Executed | undefined): RemoteError {
  const message = describeFailure(error).slice(0, MAX_ERROR_LENGTH);
  return new RemoteError('function-failed', message, executed === undefined ? {} : { executed });
}

/** What went wrong, in words; never empty. */
export function describeFailure(error: unknown): string {
  try {
    const text: unknown = typeof error === 'string' ? error : (messageOf(error) ?? JSON.stringify(error));
    return typeof text === 'string' && text.trim() !== '' ? text : BLANK;
  } catch {
    return BLANK; // it cannot be read, and that is all there is to say
  }
}

function messageOf(error: unknown): string | undefined {
  if (error instanceof Error) return typeof error.message === 'string' ? error.message : '';
  if (typeof error !== 'object' || error === null || !Object.hasOwn(error, 'message')) return undefined;
  const { message } = error as { message?: unknown };
  return typeof message === 'string' ? message : undefined;
}
