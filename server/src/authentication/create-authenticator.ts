import type { LoadedConfig } from '../config/load-config.js';
import type { Logger } from '../observability/logger.js';
import { BuiltInAuthenticator } from './built-in-authenticator.js';
import { CustomAuthenticator, type AuthenticateFunction } from './custom-authenticator.js';

/** Tells who holds credentials: the host program, or what is configured. */
export function createAuthenticator(
  authenticate: AuthenticateFunction | undefined,
  { config, secrets }: LoadedConfig,
  log: Logger,
): BuiltInAuthenticator | CustomAuthenticator {
  if (authenticate !== undefined) return new CustomAuthenticator(authenticate, config.limits, log);
  const { secret: _reference, ...auth } = config.auth;
  const resolved = secrets.authSecret === undefined ? auth : { ...auth, secret: secrets.authSecret };
  return new BuiltInAuthenticator({ auth: resolved, limits: config.limits, logger: log });
}
