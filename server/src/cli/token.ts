import type { Command } from 'commander';
import { checkUserName, durationArgument } from './arguments.js';
import type { CommandContext } from './command-context.js';
import { usageError } from './exit-codes.js';

const HOUR_MS = 3_600_000;

interface TokenOptions {
  readonly user: string;
  readonly ttl: number;
  readonly config?: string;
  readonly json?: boolean;
}

/** `remotes-hub token`: a token signed with the configured secret, without asking a hub. */
export function addTokenCommand(program: Command, { env, output }: CommandContext): void {
  program
    .command('token')
    .description(
      'make a token for a user, signed with auth.secret of the configuration or REMOTES_HUB_SECRET',
    )
    .requiredOption('--user <user>', 'the user that the token logs in')
    .option('--ttl <duration>', 'how long it is valid, such as 1h', durationArgument, HOUR_MS)
    .option('--config <file>', 'the configuration of the hub')
    .option('--json', 'print {token, userId, expiresAt} as JSON')
    .action(async ({ user, ttl, config: file, json }: TokenOptions) => {
      const userId = checkUserName(user);
      const { loadConfig } = await import('../config/load-config.js');
      const { config, secrets } = loadConfig(file, env);
      if (secrets.authSecret === undefined) {
        throw usageError(
          'there is no secret to sign with: give --config with auth.secret, or set REMOTES_HUB_SECRET',
        );
      }
      const { createLogger } = await import('../observability/logger.js');
      const { Tokens } = await import('../authentication/tokens.js');
      // The keys of an outside issuer are not needed to sign, so they are not fetched.
      const { jwksUrl: _jwksUrl, ...auth } = config.auth;
      using tokens = new Tokens({ ...auth, secret: secrets.authSecret, logger: createLogger('silent') });
      const { token, expiresAt } = await tokens.issue(userId, ttl);
      if (json === true) output.json({ token, userId, expiresAt });
      else output.line(token);
    });
}
