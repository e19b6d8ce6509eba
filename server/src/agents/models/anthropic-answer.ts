import type { Anthropic } from '@anthropic-ai/sdk';
import { isJsonObject } from '../../json/json-values.js';
import { AnthropicUsage } from './anthropic-usage.js';
import { ModelError, type FinishReason, type ModelPart } from './model.js';

/**
 * Most that the calls and the thinking of one answer hold, in characters: nobody else can count them before they
 * are whole.
 */
export const MAX_BLOCK_CHARACTERS = 1024 * 1024;

type StartedBlock = Anthropic.RawContentBlockStartEvent['content_block'];

interface OpenCall {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  args: string;
}

/** A block that is still being sent, other than text. */
type OpenBlock =
  | OpenCall
  | { readonly type: 'thinking'; thinking: string; signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string };

/**
 * Reads one streamed answer: text as it comes, every other block when it is whole. The types say what Anthropic
 * sends; servers that imitate it leave things out, and what is missing is empty.
 */
export class AnthropicAnswer {
  readonly #open = new Map<number, OpenBlock>();
  readonly #usage = new AnthropicUsage();
  #reason: FinishReason | undefined;
  #characters = 0;

  /** @throws {ModelError} when the answer is too long */
  *read(event: Anthropic.RawMessageStreamEvent): Iterable<ModelPart> {
    switch (event.type) {
      case 'message_start':
        this.#usage.update(event.message?.usage);
        return;
      case 'content_block_start':
        yield* this.#begin(event.index, event.content_block);
        return;
      case 'content_block_delta':
        yield* this.#continue(event.index, event.delta);
        return;
      case 'content_block_stop':
        yield* this.#finish(event.index);
        return;
      case 'message_delta':
        this.#usage.update(event.usage);
        this.#reason = finishReason(event.delta?.stop_reason) ?? this.#reason;
        return;
      case 'message_stop':
        this.#reason ??= 'other';
        return;
      default:
      // a kind of event that did not exist when this was written
    }
  }

  /** The last parts; none when the answer was cut off, which is so when no reason to stop has come. */
  *end(): Iterable<ModelPart> {
    if (this.#reason === undefined) return;
    for (const [index, { type }] of [...this.#open]) {
      // a call that was cut off is told so; cut-off thinking has no signature, and would be refused
      if (type === 'tool_use') yield* this.#finish(index);
    }
    const usage = this.#usage.total;
    yield { type: 'finish', reason: this.#reason, ...(usage !== undefined && { usage }) };
  }

  *#begin(index: number, block: StartedBlock): Iterable<ModelPart> {
    yield* this.#finish(index); // a server that does not say that the one before is whole
    if (block.type === 'text') yield* textParts(block.text);
    const opened = openedBlock(block);
    if (opened === undefined) return;
    this.#open.set(index, opened);
    if (opened.type === 'redacted_thinking') this.#count(opened.data);
  }

  *#continue(index: number, delta: Anthropic.RawContentBlockDelta): Iterable<ModelPart> {
    const block = this.#open.get(index);
    if (delta.type === 'text_delta') yield* textParts(delta.text);
    else if (delta.type === 'input_json_delta' && block?.type === 'tool_use')
      block.args += this.#count(delta.partial_json);
    else if (delta.type === 'thinking_delta' && block?.type === 'thinking')
      block.thinking += this.#count(delta.thinking);
    else if (delta.type === 'signature_delta' && block?.type === 'thinking')
      block.signature += this.#count(delta.signature);
  }

  *#finish(index: number): Iterable<ModelPart> {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (block === undefined) return;
    if (block.type === 'tool_use') {
      yield { type: 'tool-call', callId: block.id, name: block.name, args: argumentsOf(block) };
    } else yield { type: 'provider-data', data: block };
  }

  /** The text, counted. */
  #count(text: unknown): string {
    const counted = textOf(text);
    this.#characters += counted.length;
    if (this.#characters > MAX_BLOCK_CHARACTERS) throw new ModelError('the answer of the model is too long');
    return counted;
  }
}

function openedBlock(block: StartedBlock): OpenBlock | undefined {
  const { type } = block;
  if (type === 'tool_use')
    return { type, id: textOf(block.id), name: textOf(block.name), input: block.input, args: '' };
  if (type === 'thinking')
    return { type, thinking: textOf(block.thinking), signature: textOf(block.signature) };
  if (type === 'redacted_thinking') return { type, data: textOf(block.data) };
  return undefined;
}

/** Arguments come in deltas, and `input` is empty at the start; some servers send it whole there. */
function argumentsOf({ args, input }: OpenCall): string {
  const isWhole = args === '' && isJsonObject(input) && Object.keys(input).length > 0;
  return isWhole ? JSON.stringify(input) : args;
}

function* textParts(text: unknown): Iterable<ModelPart> {
  const given = textOf(text);
  if (given !== '') yield { type: 'text', text: given };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** `undefined` while the answer goes on. */
function finishReason(reason: Anthropic.StopReason | null | undefined): FinishReason | undefined {
  if (reason === null || reason === undefined) return undefined;
  if (reason === 'end_turn' || reason === 'stop_sequence') return 'stop';
  if (reason === 'tool_use') return 'tool-calls';
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length';
  return reason === 'refusal' ? 'content-filter' : 'other';
}
