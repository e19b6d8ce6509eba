import type { ModelConfig } from '../../config/config-schema.js';
import type { Model } from './model.js';
import { OfflineModel } from './offline.js';

/** Makes the model of an agent, once for each run. */
export type ModelFactory = (config: ModelConfig) => Model;

const factories: Record<ModelConfig['provider'], ModelFactory> = { offline: () => new OfflineModel() };

/** The models that a configuration can name. */
export function createModel(config: ModelConfig): Model {
  return factories[config.provider](config);
}
