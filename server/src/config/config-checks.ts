import { BlockList, isIP } from 'node:net';
import { isPasswordHash } from '../passwords/passwords.js';
import type { ConfigProblem } from './config-error.js';
import { hasNoUserinfo, type HubConfig, type ModelConfig } from './config-schema.js';

/** What a check needs to know beside the configuration. */
export interface CheckContext {
  /** The host program logs sessions in itself, so the configuration need not say who may. */
  readonly authenticatesItself: boolean;
}

/** A rule about several values. It is left out while one of its sections does not fit the schema. */
interface Check {
  readonly sections: readonly (keyof HubConfig)[];
  readonly problems: (config: HubConfig, context: CheckContext) => ConfigProblem[];
}

const HASH_EXPECTED = 'expected a hash as `remotes-hub user add` makes it';

const checks: readonly Check[] = [
  { sections: ['limits'], problems: checkLimits },
  { sections: ['agents'], problems: checkAgentIds },
  { sections: ['agents'], problems: checkModelAddresses },
  { sections: ['agents', 'limits'], problems: checkAgentSteps },
  { sections: ['auth'], problems: checkUsers },
  { sections: ['host', 'auth'], problems: checkHost },
  { sections: ['path', 'metrics'], problems: checkMetricsPath },
];

/** The rules that no single value can break alone. `broken` are the sections that did not fit the schema. */
export function checkConfig(
  config: HubConfig,
  broken: ReadonlySet<string>,
  context: CheckContext,
): ConfigProblem[] {
  return checks
    .filter(({ sections }) => !sections.some((section) => broken.has(section)))
    .flatMap(({ problems }) => problems(config, context));
}

/** Whether the configuration says who may log in. */
export function hasAuthentication({ auth }: HubConfig): boolean {
  return (
    auth.secret !== undefined ||
    auth.jwksUrl !== undefined ||
    auth.usersFile !== undefined ||
    auth.users.length > 0
  );
}

/** Whether only programs of this machine can reach an address: 127.0.0.0/8, ::1 and `localhost`. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (address.toLowerCase() === 'localhost') return true;
  const family = isIP(address);
  if (family === 0) return false;
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  return loopback.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

function checkLimits({ limits }: HubConfig): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (limits.maxQueuedBytes < 2 * limits.maxMessageBytes) {
    problems.push({
      path: 'limits.maxQueuedBytes',
      message: `expected at least twice limits.maxMessageBytes (${2 * limits.maxMessageBytes}), received ${limits.maxQueuedBytes}`,
    });
  }
  if (limits.maxCallTimeoutMs < limits.callTimeoutMs) {
    problems.push({
      path: 'limits.maxCallTimeoutMs',
      message: `expected at least limits.callTimeoutMs (${limits.callTimeoutMs}), received ${limits.maxCallTimeoutMs}`,
    });
  }
  return problems;
}

function checkAgentIds({ agents }: HubConfig): ConfigProblem[] {
  return repeated(agents.map(({ id }) => String(id))).map(({ index, first }) => ({
    path: `agents[${index}].id`,
    message: `the same as agents[${first}].id; 7 and "7" are one id`,
  }));
}

function checkModelAddresses({ agents }: HubConfig): ConfigProblem[] {
  return agents.flatMap(({ model }, index) => {
    const message = addressProblem(model);
    return message === undefined ? [] : [{ path: `agents[${index}].model.baseUrl`, message }];
  });
}

/** What is wrong with the address of a model. It may hold a password, so it is not shown. */
function addressProblem(model: ModelConfig): string | undefined {
  if (model.provider === 'offline' || model.baseUrl === undefined) return undefined;
  if (!hasNoUserinfo(model.baseUrl))
    return 'expected a URL without user and password; a key belongs into apiKey';
  if (/[?#]/.test(model.baseUrl)) return 'expected a URL that ends with its path, without "?" and "#"';
  const url = new URL(model.baseUrl);
  if (model.apiKey === undefined || url.protocol === 'https:' || isLoopback(url.hostname)) return undefined;
  const wayOut =
    model.provider === 'openai-compatible' ? ', or no apiKey where the server asks for none' : '';
  return `expected https${wayOut}: over http the key would travel in clear to "${url.hostname}"`;
}

function checkAgentSteps({ agents, limits: { maxRunSteps } }: HubConfig): ConfigProblem[] {
  return agents.flatMap(({ maxSteps = 1 }, index) =>
    maxSteps <= maxRunSteps
      ? []
      : [
          {
            path: `agents[${index}].maxSteps`,
            message: `expected at most limits.maxRunSteps (${maxRunSteps}), received ${maxSteps}`,
          },
        ],
  );
}

function checkUsers({ auth: { users } }: HubConfig): ConfigProblem[] {
  const unusable = users.flatMap(({ passwordHash }, index) =>
    isPasswordHash(passwordHash)
      ? []
      : [{ path: `auth.users[${index}].passwordHash`, message: HASH_EXPECTED }],
  );
  const twice = repeated(users.map(({ username }) => username)).map(({ index, first }) => ({
    path: `auth.users[${index}].username`,
    message: `the same as auth.users[${first}].username`,
  }));
  return [...unusable, ...twice];
}

/** Where a text stands again, and where it stood first. */
function repeated(texts: readonly string[]): { index: number; first: number }[] {
  const firsts = new Map<string, number>();
  return texts.flatMap((text, index) => {
    const first = firsts.get(text);
    if (first !== undefined) return [{ index, first }];
    firsts.set(text, index);
    return [];
  });
}

function checkHost(config: HubConfig, { authenticatesItself }: CheckContext): ConfigProblem[] {
  if (authenticatesItself || hasAuthentication(config) || isLoopback(config.host)) return [];
  return [
    {
      path: 'host',
      message:
        `"${config.host}" can be reached from other machines, and nothing says who may log in: ` +
        'set auth.secret, auth.jwksUrl, auth.users or auth.usersFile, or listen on 127.0.0.1',
    },
  ];
}

/** Paths that answer otherwise. */
const takenPaths = ['/healthz', '/readyz'];

function checkMetricsPath({ path, metrics }: HubConfig): ConfigProblem[] {
  if (metrics === undefined) return [];
  const isTaken = [path, ...takenPaths].includes(metrics.path) || metrics.path.startsWith('/v1/');
  return isTaken
    ? [
        {
          path: 'metrics.path',
          message: `expected another path than the hub's own, received "${metrics.path}"`,
        },
      ]
    : [];
}
