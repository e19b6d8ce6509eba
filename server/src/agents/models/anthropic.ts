import type * as AnthropicPackage from '@anthropic-ai/sdk';
import type { Anthropic } from '@anthropic-ai/sdk';
import type { ModelConfig } from '../../config/config-schema.js';
import { isJsonObject } from '../../json/json-values.js';
import { AnthropicAnswer } from './anthropic-answer.js';
import { anthropicMessages, systemText } from './anthropic-messages.js';
import type { Model, ModelPart, ModelRequest, ModelTool } from './model.js';
import { loadPeer, type PeerPackage } from './peer-packages.js';
import { streamStep } from './provider-client.js';

/** The configuration of a model behind Anthropic's Messages API. */
export type AnthropicConfig = Extract<ModelConfig, { provider: 'anthropic' }>;

/** The official client. */
export const anthropicPackage: PeerPackage<typeof AnthropicPackage> = {
  name: '@anthropic-ai/sdk',
  oldestMajor: 1,
  load: async () => import('@anthropic-ai/sdk'),
  loadVersion: async () => import('@anthropic-ai/sdk/version'),
};

/** Anthropic's Messages API, streamed. */
export class AnthropicModel implements Model {
  private constructor(
    private readonly client: Anthropic,
    private readonly config: AnthropicConfig,
  ) {}

  /** @throws {ModelError} when the package `@anthropic-ai/sdk` is not installed, too old or broken */
  static async create(
    config: AnthropicConfig,
    apiKey: string | undefined,
    from: PeerPackage<typeof AnthropicPackage> = anthropicPackage,
  ): Promise<AnthropicModel> {
    const { Anthropic: Client } = await loadPeer(from);
    const client = new Client({
      apiKey: apiKey ?? '',
      authToken: null,
      baseURL: config.baseUrl ?? null, // null: Anthropic's own, whatever the environment says
      maxRetries: 0, // `streamStep` does it
      timeout: config.stepTimeoutMs,
      logLevel: 'off',
      fetchOptions: { redirect: 'manual' }, // the conversation goes where the operator sends it, and nowhere else
    });
    return new AnthropicModel(client, config);
  }

  stream(request: ModelRequest): AsyncIterable<ModelPart> {
    const body = this.#body(request);
    return streamStep({
      provider: 'anthropic',
      signal: request.signal,
      timeoutMs: this.config.stepTimeoutMs,
      send: async (signal) => this.client.messages.create(body, { signal }),
      answer: new AnthropicAnswer(),
    });
  }

  #body({ messages, tools }: ModelRequest): Anthropic.MessageCreateParamsStreaming {
    const { model, maxOutputTokens } = this.config;
    const system = systemText(messages);
    const hasTools = tools.length > 0;
    return {
      model,
      max_tokens: maxOutputTokens,
      messages: anthropicMessages(messages, hasTools),
      stream: true,
      ...(system !== '' && { system }),
      ...(hasTools && { tools: tools.map(anthropicTool) }),
    };
  }
}

/** A tool as a request to the Messages API holds it. */
export function anthropicTool({ name, description, parameters }: ModelTool): Anthropic.Tool {
  const schema = parameters.parse();
  return { name, description, input_schema: { ...(isJsonObject(schema) && schema), type: 'object' } };
}
