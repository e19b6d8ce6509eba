import type * as OpenAiPackage from 'openai';
import type { OpenAI } from 'openai';
import { isJsonObject } from '../../json/json-values.js';
import type { ModelConfig } from '../../config/config-schema.js';
import type {
  FinishReason,
  Model,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelTool,
  ModelUsage,
} from './model.js';
import { ModelError } from './model.js';
import { OpenAiToolCalls } from './openai-tool-calls.js';
import { loadPeer, MAX_RETRIES, modelErrorOf, stepSignal } from './provider-client.js';

/** The configuration of a model behind OpenAI's chat completions. */
export type OpenAiConfig = Extract<ModelConfig, { provider: 'openai-compatible' }>;

type Chunk = OpenAI.ChatCompletionChunk;
type ChatMessage = OpenAI.ChatCompletionMessageParam;

/** Where reasoning models put what they thought; some refuse a conversation that lacks it. */
const REASONING = 'reasoning_content';

/** What a server without keys is sent, since the client demands one. */
const NO_KEY = 'none';

/** Chat completions with tools, streamed: OpenAI, Azure, vLLM, Ollama, LM Studio, OpenRouter and the like. */
export class OpenAiCompatibleModel implements Model {
  private constructor(
    private readonly client: OpenAI,
    private readonly config: OpenAiConfig,
  ) {}

  /** @throws {ModelError} when the package `openai` is not installed */
  static async create(
    config: OpenAiConfig,
    apiKey: string | undefined,
    load: () => Promise<typeof OpenAiPackage> = async () => import('openai'),
  ): Promise<OpenAiCompatibleModel> {
    const { OpenAI: Client } = await loadPeer('openai', load);
    const client = new Client({
      baseURL: config.baseUrl,
      apiKey: apiKey ?? NO_KEY,
      organization: null,
      project: null,
      maxRetries: MAX_RETRIES,
      timeout: config.stepTimeoutMs,
      logLevel: 'off',
    });
    return new OpenAiCompatibleModel(client, config);
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelPart> {
    const signal = stepSignal(request.signal, this.config.stepTimeoutMs);
    try {
      const chunks = await this.client.chat.completions.create(this.#body(request), { signal });
      yield* readChunks(chunks);
      if (signal.aborted) throw new ModelError('the model provider did not answer in time');
    } catch (error) {
      throw modelErrorOf(error, 'openai-compatible', request.signal);
    }
  }

  #body({ messages, tools }: ModelRequest): OpenAI.ChatCompletionCreateParamsStreaming {
    const { model, maxOutputTokens } = this.config;
    return {
      model,
      messages: joinUserMessages(messages.flatMap(chatMessages)),
      stream: true,
      stream_options: { include_usage: true },
      ...(tools.length > 0 && { tools: tools.map(chatTool) }),
      ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens }),
    };
  }
}

async function* readChunks(chunks: AsyncIterable<Chunk>): AsyncIterable<ModelPart> {
  const calls = new OpenAiToolCalls();
  let reasoning = '';
  let reason: FinishReason | undefined;
  let usage: ModelUsage | undefined;
  for await (const chunk of chunks) {
    usage = usageOf(chunk) ?? usage;
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (choice === undefined) continue;
    const { content, refusal, tool_calls: deltas } = choice.delta ?? {};
    const text = content ?? refusal;
    if (typeof text === 'string' && text !== '') yield { type: 'text', text };
    reasoning += reasoningOf(choice.delta);
    for (const delta of deltas ?? []) calls.add(delta);
    if (choice.finish_reason !== undefined) reason = finishReason(choice.finish_reason) ?? reason;
  }
  if (reason === undefined && calls.size === 0 && usage === undefined) return; // cut off: a step without `finish`
  if (reasoning !== '') yield { type: 'provider-data', data: { [REASONING]: reasoning } };
  yield* calls.parts();
  yield { type: 'finish', reason: reason ?? 'other', ...(usage !== undefined && { usage }) };
}

function reasoningOf(delta: unknown): string {
  if (!isJsonObject(delta) || !Object.hasOwn(delta, REASONING)) return '';
  const reasoning = delta[REASONING];
  return typeof reasoning === 'string' ? reasoning : '';
}

function usageOf({ usage }: Chunk): ModelUsage | undefined {
  if (usage == null || !Number.isSafeInteger(usage.prompt_tokens)) return undefined;
  const outputTokens = Number.isSafeInteger(usage.completion_tokens) ? usage.completion_tokens : 0;
  return { inputTokens: usage.prompt_tokens, outputTokens };
}

/** `undefined` while the answer goes on. */
function finishReason(reason: string | null): FinishReason | undefined {
  if (reason === null) return undefined;
  if (reason === 'stop' || reason === 'length') return reason;
  if (reason === 'tool_calls' || reason === 'function_call') return 'tool-calls';
  return reason === 'content_filter' ? 'content-filter' : 'other';
}

function chatTool({ name, description, parameters }: ModelTool): OpenAI.ChatCompletionTool {
  const schema = parameters.parse();
  return {
    type: 'function',
    function: { name, description, parameters: isJsonObject(schema) ? { ...schema } : {} },
  };
}

function chatMessages(message: ModelMessage): ChatMessage[] {
  switch (message.role) {
    case 'system':
    case 'user':
      return [{ role: message.role, content: message.text }];
    case 'tool':
      return message.results.map(({ callId, content }) => ({ role: 'tool', tool_call_id: callId, content }));
    case 'assistant':
      return [assistantMessage(message.content)];
  }
}

/** Some servers refuse two messages of the user in a row. */
function joinUserMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  const joined: ChatMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role === 'user' && message.role === 'user') {
      joined[joined.length - 1] = {
        role: 'user',
        content: `${textContent(last)}\n\n${textContent(message)}`,
      };
    } else joined.push(message);
  }
  return joined;
}

function textContent({ content }: OpenAI.ChatCompletionUserMessageParam): string {
  return typeof content === 'string' ? content : '';
}

function assistantMessage(content: Extract<ModelMessage, { role: 'assistant' }>['content']): ChatMessage {
  let text = '';
  let kept = {};
  const calls: OpenAI.ChatCompletionMessageToolCall[] = [];
  for (const part of content) {
    if (part.type === 'text') text += part.text;
    else if (part.type === 'provider-data') kept = reasoningData(part.data);
    else
      calls.push({
        id: part.callId,
        type: 'function',
        function: { name: part.name, arguments: part.args.text },
      });
  }
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...kept,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** What this adapter kept, and nothing that another one did. */
function reasoningData(data: unknown): object {
  const reasoning = reasoningOf(data);
  return reasoning === '' ? {} : { [REASONING]: reasoning };
}
