import type { JsonText } from '../../json/json-text.js';

/** A tool as a model sees it. `name` is exact; an adapter whose provider refuses it maps it there and back. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments: always an object with `type` and `properties`. */
  readonly parameters: JsonText;
}

/** A piece of what a model said, in the order it said it. */
export type AssistantContent =
  | { readonly type: 'text'; readonly text: string }
  /** `args` is the JSON text of an object even when the model wrote something else. */
  | { readonly type: 'tool-call'; readonly callId: string; readonly name: string; readonly args: JsonText }
  /** Whatever the adapter wants back in the next request (reasoning, signatures); nobody else reads it. */
  | { readonly type: 'provider-data'; readonly data: unknown };

/** What came of one tool call. `content` is JSON text, or `error: …` when it failed. */
export interface ToolResult {
  readonly callId: string;
  readonly name: string;
  readonly content: string;
  readonly isError: boolean;
}

/**
 * One message of a conversation. An assistant message with tool calls is always followed by one tool message
 * with exactly one result for each of them, in their order.
 */
export type ModelMessage =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly content: readonly AssistantContent[] }
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

/** What a model is asked in one step. */
export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  /** May be empty: a request to a provider then names no tools at all. */
  readonly tools: readonly ModelTool[];
  /** Aborts when the run is cancelled; the adapter ends its request and may throw or just end. */
  readonly signal: AbortSignal;
}

/** Why a model stopped. Whether there are tool calls is read from the parts, never from the reason. */
export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'other';

/** Tokens of one step, as the provider counts them. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What a model streams. `finish` comes once and last; a stream that ends without it was cut off. */
export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  /** A whole call: the adapter puts its deltas together. `args` is the text as the model wrote it. */
  | { readonly type: 'tool-call'; readonly callId: string; readonly name: string; readonly args: string }
  | { readonly type: 'provider-data'; readonly data: unknown }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly usage?: ModelUsage };

/** A model that agents run on. It keeps nothing between steps: the messages say all. */
export interface Model {
  /** Most tools of one request, where the provider has a bound; the rest is reached through `list_functions`. */
  readonly maxTools?: number;
  /**
   * Looks at the tools of a run before its first step.
   * @returns sentences about tools that this provider's requests leave out, and why
   */
  prepare?(tools: readonly ModelTool[]): readonly string[];
  /** One step. @throws {ModelError} what people shall read; any other error reaches only the log */
  stream(request: ModelRequest): AsyncIterable<ModelPart>;
}

/** A failure of a model whose message is safe to show: it holds no key, address or text of a provider. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
}
