import { isJsonArray, isJsonObject, ownProperty, type JsonObject } from '../../json/json-values.js';
import { ModelError, type FinishReason, type ModelPart, type ModelUsage } from './model.js';
import { OpenAiReasoning } from './openai-reasoning.js';
import { OpenAiToolCalls } from './openai-tool-calls.js';

/** Most that the calls and the reasoning of one answer hold, in characters: nobody can count them before they are whole. */
export const MAX_HELD_CHARACTERS = 1024 * 1024;
/** What a call holds besides its arguments, so that empty ones are bounded too. */
const CHARACTERS_PER_CALL = 64;

/**
 * Reads one streamed answer: text as it comes, calls and reasoning when it is whole. Chunks are read as what they
 * are, text from a stranger: whatever a server leaves out or gets wrong is as if it were not there.
 */
export class OpenAiAnswer {
  readonly #calls = new OpenAiToolCalls();
  readonly #reasoning = new OpenAiReasoning();
  #reason: FinishReason | undefined;
  #usage: ModelUsage | undefined;
  /** The usage of the whole answer has come, which is sent last and has no choice. */
  #isCounted = false;
  #heldCharacters = 0;

  /** @throws {ModelError} when the answer is too long @throws when the server says that it failed */
  *read(chunk: unknown): Iterable<ModelPart> {
    if (!isJsonObject(chunk)) return;
    const usage = usageOf(ownProperty(chunk, 'usage'));
    this.#usage = usage ?? this.#usage;
    const choices = ownProperty(chunk, 'choices');
    const choice = isJsonArray(choices) ? choices[0] : undefined;
    if (!isJsonObject(choice)) {
      this.#isCounted ||= usage !== undefined;
      return;
    }
    const delta = ownProperty(choice, 'delta');
    if (isJsonObject(delta)) yield* this.#readDelta(delta);
    this.#reason = finishReason(ownProperty(choice, 'finish_reason')) ?? this.#reason;
  }

  /** The last parts; none when the answer was cut off, so that nothing says that it is whole. */
  *end(): Iterable<ModelPart> {
    const hasEnded = this.#reason !== undefined || this.#isCounted;
    if (!hasEnded && this.#calls.size === 0) return;
    const reasoning = this.#reasoning.whole(this.#calls.size > 0);
    if (reasoning !== undefined) yield { type: 'provider-data', data: reasoning };
    yield* this.#calls.parts();
    // without an end, arguments that never began were cut off: as at the length limit
    const reason = !hasEnded && this.#calls.isLastBlank ? 'length' : 'other';
    yield {
      type: 'finish',
      reason: this.#reason ?? reason,
      ...(this.#usage !== undefined && { usage: this.#usage }),
    };
  }

  *#readDelta(delta: JsonObject): Iterable<ModelPart> {
    for (const field of ['content', 'refusal']) {
      const text = ownProperty(delta, field);
      if (typeof text === 'string' && text !== '') yield { type: 'text', text };
    }
    this.#heldCharacters += this.#reasoning.add(delta);
    const calls = ownProperty(delta, 'tool_calls');
    if (isJsonArray(calls)) for (const call of calls) this.#heldCharacters += this.#calls.add(call);
    const held = this.#heldCharacters + this.#calls.size * CHARACTERS_PER_CALL;
    if (held > MAX_HELD_CHARACTERS) throw new ModelError('the answer of the model is too long');
  }
}

function usageOf(usage: unknown): ModelUsage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const inputTokens = countOf(ownProperty(usage, 'prompt_tokens'));
  if (inputTokens === undefined) return undefined;
  return { inputTokens, outputTokens: countOf(ownProperty(usage, 'completion_tokens')) ?? 0 };
}

function countOf(tokens: unknown): number | undefined {
  return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined;
}

/** `undefined` while the answer goes on. */
function finishReason(reason: unknown): FinishReason | undefined {
  if (typeof reason !== 'string' || reason === '') return undefined;
  if (reason === 'stop' || reason === 'length') return reason;
  if (reason === 'tool_calls' || reason === 'function_call') return 'tool-calls';
  if (reason === 'error') throw new Error('the server ended its answer with an error');
  return reason === 'content_filter' ? 'content-filter' : 'other';
}
