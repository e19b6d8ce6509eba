import { apiKeyOf, type HubConfig, type ModelConfig } from './config-schema.js';
import type { ConfigProblem } from './config-error.js';
import { SecretError, isReference, resolveSecret, type SecretSources } from './secret-references.js';

/** Fewest bytes of `auth.secret`: the width of HS256 (RFC 7518, 3.2). */
export const MIN_SECRET_BYTES = 32;

/** Fewest characters of `metrics.token`. */
export const MIN_METRICS_TOKEN_LENGTH = 16;

/** Stands in a loaded configuration for a secret that was written out in the configuration. */
export const INLINE_SECRET = '(written out in the configuration)';

/** What the header that carries a key may hold; the error for anything else would show the key. */
const fitsHeader = /^[\x21-\x7e]+$/u;

/** The secrets of a configuration, resolved. */
export interface Secrets {
  /** The HS256 key as text; its UTF-8 bytes are the key, at least {@link MIN_SECRET_BYTES}. */
  readonly authSecret?: string;
  /** Where Redis is, with its credentials. */
  readonly redisUrl?: string;
  /** The keys of model providers, by `String(agent.id)`; an agent without one is missing. */
  readonly modelKeys: ReadonlyMap<string, string>;
  /** What whoever asks for metrics must have. */
  readonly metricsToken?: string;
}

/** The secrets of a configuration; what cannot be read becomes a problem. */
export function resolveSecrets(
  config: HubConfig,
  sources: SecretSources,
  problems: ConfigProblem[],
): Secrets {
  const authSecret = resolveAuthSecret(config, sources, problems);
  const redisUrl = resolveRedisUrl(config, sources, problems);
  const modelKeys = resolveModelKeys(config, sources, problems);
  const metricsToken = resolveMetricsToken(config, sources, problems);
  return {
    ...(authSecret !== undefined && { authSecret }),
    ...(redisUrl !== undefined && { redisUrl }),
    modelKeys,
    ...(metricsToken !== undefined && { metricsToken }),
  };
}

function resolveAuthSecret(
  { auth }: HubConfig,
  sources: SecretSources,
  problems: ConfigProblem[],
): string | undefined {
  if (auth.secret === undefined) return undefined;
  const authSecret = resolveAt('auth.secret', auth.secret, sources, problems);
  if (authSecret === undefined) return undefined;
  const length = Buffer.byteLength(authSecret);
  if (length >= MIN_SECRET_BYTES) return authSecret;
  problems.push({
    path: 'auth.secret',
    message: `expected at least ${MIN_SECRET_BYTES} bytes, ${source(auth.secret)} has ${length}`,
  });
  return undefined;
}

/** The URL may hold a password, so no error shows it. */
function resolveRedisUrl(
  { redis }: HubConfig,
  sources: SecretSources,
  problems: ConfigProblem[],
): string | undefined {
  if (redis === undefined) return undefined;
  const url = resolveAt('redis.url', redis.url, sources, problems);
  if (url === undefined || (/^rediss?:\/\/[^/?#]+/u.test(url) && URL.canParse(url))) return url;
  problems.push({ path: 'redis.url', message: 'expected a URL such as "redis://127.0.0.1:6379"' });
  return undefined;
}

function resolveModelKeys(
  { agents }: HubConfig,
  sources: SecretSources,
  problems: ConfigProblem[],
): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const [index, { id, model }] of agents.entries()) {
    const reference = apiKeyOf(model);
    if (reference === undefined) continue;
    const path = `agents[${index}].model.apiKey`;
    const key = resolveAt(path, reference, sources, problems);
    if (key === undefined) continue;
    if (fitsHeader.test(key)) keys.set(String(id), key);
    else
      problems.push({
        path,
        message: `expected visible ASCII characters without spaces, ${source(reference)} has others`,
      });
  }
  return keys;
}

function resolveMetricsToken(
  { metrics }: HubConfig,
  sources: SecretSources,
  problems: ConfigProblem[],
): string | undefined {
  if (metrics?.token === undefined) return undefined;
  const path = 'metrics.token';
  const token = resolveAt(path, metrics.token, sources, problems);
  if (token === undefined) return undefined;
  if (token.length >= MIN_METRICS_TOKEN_LENGTH && fitsHeader.test(token)) return token;
  const expected = `expected at least ${MIN_METRICS_TOKEN_LENGTH} visible ASCII characters without spaces`;
  problems.push({ path, message: `${expected}, ${source(metrics.token)} has fewer or others` });
  return undefined;
}

/** A secret, or `undefined` and one more problem. */
function resolveAt(
  path: string,
  reference: string,
  sources: SecretSources,
  problems: ConfigProblem[],
): string | undefined {
  try {
    return resolveSecret(reference, sources);
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    problems.push({ path, message: error.message });
    return undefined;
  }
}

/** What a reference names, for an error; the text of a secret stays out. */
function source(reference: string): string {
  return isReference(reference) ? `"${reference}"` : 'the text';
}

/** The configuration without secrets that are written out in it. */
export function withoutSecrets(config: HubConfig): HubConfig {
  const { secret, ...auth } = config.auth;
  return {
    ...config,
    auth: { ...auth, ...(secret !== undefined && { secret: shown(secret) }) },
    ...(config.redis !== undefined && { redis: { ...config.redis, url: shown(config.redis.url) } }),
    agents: config.agents.map((agent) => ({ ...agent, model: withoutKey(agent.model) })),
    ...(config.metrics?.token !== undefined && {
      metrics: { ...config.metrics, token: shown(config.metrics.token) },
    }),
  };
}

function withoutKey(model: ModelConfig): ModelConfig {
  if (model.provider === 'offline' || model.apiKey === undefined) return model;
  return { ...model, apiKey: shown(model.apiKey) };
}

function shown(secret: string): string {
  return isReference(secret) ? secret : INLINE_SECRET;
}
