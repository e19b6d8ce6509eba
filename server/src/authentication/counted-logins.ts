import type { CountsByName, LoginOutcome } from '../observability/metrics.js';
import type { Soon } from '../soon.js';
import { AuthenticationError, type Authenticator } from './authenticate.js';

/** The same authenticator, with every attempt counted by how it ends. */
export function countedLogins(
  authenticator: Authenticator,
  counts: CountsByName<LoginOutcome>,
): Authenticator {
  return {
    authenticate: (credentials, origin) =>
      countedLogin(authenticator.authenticate(credentials, origin), counts),
  };
}

/** Waits for one attempt to log in where it has to, and counts how it ends. */
export function countedLogin<Result>(
  attempt: Soon<Result>,
  counts: CountsByName<LoginOutcome>,
): Soon<Result> {
  const succeeded = (result: Result): Result => {
    counts.add('success');
    return result;
  };
  if (!(attempt instanceof Promise)) return succeeded(attempt);
  return attempt.then(succeeded, (error: unknown) => {
    counts.add(error instanceof AuthenticationError ? error.code : 'internal-error');
    throw error;
  });
}
