import type { CountsByName, LoginOutcome } from '../observability/metrics.js';
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

/** Waits for one attempt to log in, and counts how it ends. */
export async function countedLogin<Result>(
  attempt: Promise<Result>,
  counts: CountsByName<LoginOutcome>,
): Promise<Result> {
  try {
    const result = await attempt;
    counts.add('success');
    return result;
  } catch (error) {
    counts.add(error instanceof AuthenticationError ? error.code : 'internal-error');
    throw error;
  }
}
