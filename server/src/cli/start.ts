import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { hasAuthentication } from '../config/config-checks.js';
import type { AgentConfig, HubConfig, HubConfigInput } from '../config/config-schema.js';
import { ConfigError } from '../config/config-error.js';
import type { ConfigOverrides, LoadedConfig } from '../config/load-config.js';
import { letHeapGrow } from '../heap-growth.js';
import type { Hub } from '../hub-interface.js';
import { portArgument } from './arguments.js';
import type { CommandContext } from './command-context.js';
import { CommandError, exitCodes } from './exit-codes.js';
import { Interruption } from './interruption.js';
import type { Output } from './output.js';
import { reportingCrashes } from './crashes.js';

const DAY_MS = 86_400_000;
const SECRET_BYTES = 32;

/** Who the printed token of a hub without authentication logs in. */
const DEVELOPER = 'dev';

/** What a hub without a configuration offers, so that a newcomer has somebody to prompt. */
const standardAgent: NonNullable<HubConfigInput['agents']>[number] = {
  id: 'assistant',
  name: 'Offline assistant',
  model: { provider: 'offline' },
  tools: ['current_time'],
};

interface StartOptions extends ConfigOverrides {
  readonly config?: string;
}

/** `remotes-hub start`: a hub, until it is told to stop. */
export function addStartCommand(program: Command, context: CommandContext): void {
  program
    .command('start')
    .description('start a hub; without a configuration on 127.0.0.1, with a token for user "dev"')
    .option('--config <file>', 'the configuration, a JSON file')
    .option('--host <host>', 'the address to listen on, instead of the configured one')
    .option('--port <port>', 'the port to listen on, 0 for a free one', portArgument)
    .action((options: StartOptions) => start(options, context));
}

async function start({ config: file, ...overrides }: StartOptions, context: CommandContext): Promise<void> {
  letHeapGrow();
  const { loadConfig } = await import('../config/load-config.js');
  const { bufferedOutput } = await import('../observability/buffered-output.js');
  const { createLogger } = await import('../observability/logger.js');
  const { createHub } = await import('../hub.js');
  const { agentSchema } = await import('../config/config-schema.js');
  const given = loadConfig(file, context.env, overrides);
  const loaded = file === undefined ? withAgent(given, agentSchema.parse(standardAgent)) : given;
  const needsToken = !hasAuthentication(loaded.config);
  const config = needsToken ? withRandomSecret(loaded) : loaded;
  const lines = bufferedOutput();
  const log = createLogger(config.config.log.level, lines);
  const crashes = reportingCrashes(log, context.exitNow);
  using interruption = new Interruption(context.exitNow);
  const hub = createHub({ loaded: config, log });
  try {
    const { url, host, port } = await listen(hub, config.config, file);
    // Programs wait for this line, so it is written at every level.
    createLogger('info', lines).info({ url, host, port }, 'listening');
    lines.flushSync();
    if (needsToken) await printToken(hub, url, context.output);
    await interruption.wait();
  } finally {
    await hub.close();
    crashes[Symbol.dispose]();
  }
}

/** @throws {ConfigError} when a module of native tools cannot be used */
async function listen(
  hub: Hub,
  { host, port }: HubConfig,
  file: string | undefined,
): ReturnType<Hub['listen']> {
  try {
    return await hub.listen();
  } catch (cause) {
    if (cause instanceof ConfigError) throw new ConfigError(cause.problems, file, { cause });
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(exitCodes.failed, `cannot listen on ${host}, port ${port}: ${reason}`, { cause });
  }
}

function withAgent(loaded: LoadedConfig, agent: AgentConfig): LoadedConfig {
  return { ...loaded, config: { ...loaded.config, agents: [agent] } };
}

function withRandomSecret({ config, secrets }: LoadedConfig): LoadedConfig {
  return {
    config: { ...config, auth: { ...config.auth, secret: '(random)' } },
    secrets: { ...secrets, authSecret: randomBytes(SECRET_BYTES).toString('base64url') },
  };
}

async function printToken(hub: Hub, url: string, output: Output): Promise<void> {
  const { token } = await hub.issueToken(DEVELOPER, DAY_MS);
  output.note(
    [
      '',
      `No way to log in is configured, so here is a token for user "${DEVELOPER}". It is valid for 24 hours, and`,
      'no longer than this hub runs. In another terminal:',
      '',
      `  export REMOTES_HUB_URL=${url}`,
      `  export REMOTES_HUB_TOKEN=${token}`,
      '  npx remotes-hub list',
      '',
    ].join('\n'),
  );
}
