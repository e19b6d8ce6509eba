import type { ModelConfig } from '../../config/config-schema.js';
import { toolRules } from '../provider-tools/tool-rules.js';
import { withProviderTools } from '../provider-tools/with-provider-tools.js';
import { AnthropicModel } from './anthropic.js';
import type { Model } from './model.js';
import { OfflineModel } from './offline.js';
import { OpenAiCompatibleModel } from './openai-compatible.js';
import { withOwnData } from './provider-data.js';

/**
 * Makes the model of an agent, once for each run.
 * @param apiKey the provider's key, where the configuration names one
 */
export type ModelFactory = (config: ModelConfig, apiKey: string | undefined) => Model | Promise<Model>;

/** The models that a configuration can name. @throws {ModelError} naming the package to install */
export async function createModel(config: ModelConfig, apiKey: string | undefined): Promise<Model> {
  switch (config.provider) {
    case 'offline':
      return new OfflineModel();
    case 'openai-compatible':
      return compiled(await OpenAiCompatibleModel.create(config, apiKey), config);
    case 'anthropic':
      return compiled(await AnthropicModel.create(config, apiKey), config);
  }
}

function compiled(
  adapter: Model,
  { provider, baseUrl = '', model }: Exclude<ModelConfig, { provider: 'offline' }>,
): Model {
  return withProviderTools(
    withOwnData(adapter, JSON.stringify([provider, baseUrl, model])),
    toolRules[provider],
  );
}
