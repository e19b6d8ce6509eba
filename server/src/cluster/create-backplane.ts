import type { LoadedConfig } from '../config/load-config.js';
import type { Logger } from '../observability/logger.js';
import type { Backplane } from './backplane.js';
import { LocalBackplane } from './local-backplane.js';
import { RedisBackplane } from './redis-backplane.js';

/** The backplane of a configuration: without Redis the node is alone. */
export function createBackplane({ config, secrets }: LoadedConfig, log: Logger): Backplane {
  if (config.redis === undefined || secrets.redisUrl === undefined) return new LocalBackplane();
  return new RedisBackplane({ ...config.redis, url: secrets.redisUrl, limits: config.limits, log });
}
