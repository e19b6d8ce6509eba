import type * as OpenAiPackage from 'openai';
import type { OpenAI } from 'openai';
import type { ModelConfig } from '../../config/config-schema.js';
import type { Model, ModelPart, ModelRequest } from './model.js';
import { OpenAiAnswer } from './openai-answer.js';
import { chatMessages, chatTool } from './openai-messages.js';
import { loadPeer, type PeerPackage } from './peer-packages.js';
import { streamStep } from './provider-client.js';

/** The configuration of a model behind OpenAI's chat completions. */
export type OpenAiConfig = Extract<ModelConfig, { provider: 'openai-compatible' }>;

/** The official client. */
export const openAiPackage: PeerPackage<typeof OpenAiPackage> = {
  name: 'openai',
  oldestMajor: 6,
  load: async () => import('openai'),
  loadVersion: async () => import('openai/version'),
};

/** What a server without keys is sent, since the client demands one. */
const NO_KEY = 'none';

/** Chat completions with tools, streamed: OpenAI, Azure, vLLM, Ollama, LM Studio, OpenRouter and the like. */
export class OpenAiCompatibleModel implements Model {
  private constructor(
    private readonly client: OpenAI,
    private readonly config: OpenAiConfig,
  ) {}

  /** @throws {ModelError} when the package `openai` is not installed, too old or broken */
  static async create(
    config: OpenAiConfig,
    apiKey: string | undefined,
    from: PeerPackage<typeof OpenAiPackage> = openAiPackage,
  ): Promise<OpenAiCompatibleModel> {
    const { OpenAI: Client } = await loadPeer(from);
    const client = new Client({
      baseURL: config.baseUrl,
      apiKey: apiKey ?? NO_KEY,
      organization: null,
      project: null,
      maxRetries: 0, // `streamStep` does it
      timeout: config.stepTimeoutMs,
      logLevel: 'off',
      fetchOptions: { redirect: 'manual' }, // the conversation goes where the operator sends it, and nowhere else
    });
    return new OpenAiCompatibleModel(client, config);
  }

  stream(request: ModelRequest): AsyncIterable<ModelPart> {
    const body = chatRequest(this.config, request);
    return streamStep({
      provider: 'openai-compatible',
      signal: request.signal,
      timeoutMs: this.config.stepTimeoutMs,
      send: async (signal) => this.client.chat.completions.create(body, { signal }),
      answer: new OpenAiAnswer(),
    });
  }
}

/** The body of a request. Without tools it has no key that speaks of any. */
export function chatRequest(
  { baseUrl, model, maxOutputTokens }: OpenAiConfig,
  { messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>,
): OpenAI.ChatCompletionCreateParamsStreaming {
  return {
    model,
    messages: chatMessages(messages),
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length > 0 && { tools: tools.map(chatTool) }),
    ...(maxOutputTokens !== undefined && { [lengthLimit(baseUrl)]: maxOutputTokens }),
  };
}

/** OpenAI's newer models refuse `max_tokens`; servers elsewhere may not know its new name. */
function lengthLimit(baseUrl: string): 'max_tokens' | 'max_completion_tokens' {
  const { hostname } = new URL(baseUrl);
  const isOpenAi = hostname === 'api.openai.com' || hostname.endsWith('.openai.azure.com');
  return isOpenAi ? 'max_completion_tokens' : 'max_tokens';
}
