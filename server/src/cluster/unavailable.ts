import type { Executed } from '@remotes-hub/protocol';
import { RemoteError } from '../remotes/remote-error.js';

/** What every failure of the way to other nodes becomes. */
export function unavailable(cause?: unknown, executed: Executed = 'no'): RemoteError {
  return new RemoteError('backplane-unavailable', 'the other nodes of the hub cannot be reached', {
    cause,
    executed,
  });
}

/** What Redis answers, or `backplane-unavailable`. */
export async function answerOf<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (error) {
    throw unavailable(error);
  }
}
