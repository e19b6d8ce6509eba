import type * as AnthropicPackage from '@anthropic-ai/sdk';
import type { Anthropic } from '@anthropic-ai/sdk';
import type { ModelConfig } from '../../config/config-schema.js';
import { isJsonObject } from '../../json/json-values.js';
import { AnthropicAnswer } from './anthropic-answer.js';
import { anthropicMessages, systemText } from './anthropic-messages.js';
import { ModelError, type Model, type ModelPart, type ModelRequest, type ModelTool } from './model.js';
import { loadPeer, MAX_RETRIES, modelErrorOf, stepSignal } from './provider-client.js';

/** The configuration of a model behind Anthropic's Messages API. */
export type AnthropicConfig = Extract<ModelConfig, { provider: 'anthropic' }>;

/** Anthropic's Messages API, streamed. */
export class AnthropicModel implements Model {
  private constructor(
    private readonly client: Anthropic,
    private readonly config: AnthropicConfig,
  ) {}

  /** @throws {ModelError} when the package `@anthropic-ai/sdk` is not installed */
  static async create(
    config: AnthropicConfig,
    apiKey: string | undefined,
    load: () => Promise<typeof AnthropicPackage> = async () => import('@anthropic-ai/sdk'),
  ): Promise<AnthropicModel> {
    const { Anthropic: Client } = await loadPeer('@anthropic-ai/sdk', load);
    const client = new Client({
      apiKey: apiKey ?? '',
      authToken: null,
      baseURL: config.baseUrl ?? null, // null: Anthropic's own, whatever the environment says
      maxRetries: MAX_RETRIES,
      timeout: config.stepTimeoutMs,
      logLevel: 'off',
    });
    return new AnthropicModel(client, config);
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelPart> {
    const signal = stepSignal(request.signal, this.config.stepTimeoutMs);
    try {
      const events = await this.client.messages.create(this.#body(request), { signal });
      const answer = new AnthropicAnswer();
      for await (const event of events) yield* answer.read(event);
      // the client just ends its stream when it is aborted
      if (signal.aborted) throw new ModelError('the model provider anthropic did not answer in time');
      yield* answer.end();
    } catch (error) {
      throw modelErrorOf(error, 'anthropic', request.signal);
    }
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

function anthropicTool({ name, description, parameters }: ModelTool): Anthropic.Tool {
  const schema = parameters.parse();
  return { name, description, input_schema: { ...(isJsonObject(schema) && schema), type: 'object' } };
}
