import type { Anthropic } from '@anthropic-ai/sdk';
import type { FinishReason, ModelPart } from './model.js';

type Event = Anthropic.RawMessageStreamEvent;

/** A block that is still being sent, other than text. */
type OpenBlock =
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; args: string }
  | { readonly type: 'thinking'; thinking: string; signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string };

/** Reads one streamed answer: text as it comes, every other block when it is whole. */
export class AnthropicAnswer {
  readonly #open = new Map<number, OpenBlock>();
  #reason: FinishReason | undefined;
  #inputTokens: number | undefined;
  #outputTokens = 0;

  *read(event: Event): Iterable<ModelPart> {
    switch (event.type) {
      case 'message_start':
        this.#inputTokens = inputTokensOf(event.message?.usage);
        this.#outputTokens = event.message?.usage?.output_tokens ?? 0;
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
        this.#reason = finishReason(event.delta.stop_reason);
        // the count so far, not what came since
        this.#outputTokens = event.usage?.output_tokens ?? this.#outputTokens;
        return;
      case 'message_stop':
        this.#reason ??= 'other';
        return;
      default:
      // a kind of event that did not exist when this was written
    }
  }

  /** The last parts; none when the answer was cut off. */
  *end(): Iterable<ModelPart> {
    if (this.#reason === undefined) return;
    for (const index of [...this.#open.keys()]) yield* this.#finish(index);
    const usage =
      this.#inputTokens === undefined
        ? {}
        : { usage: { inputTokens: this.#inputTokens, outputTokens: this.#outputTokens } };
    yield { type: 'finish', reason: this.#reason, ...usage };
  }

  *#begin(index: number, block: Anthropic.RawContentBlockStartEvent['content_block']): Iterable<ModelPart> {
    if (block.type === 'text' && block.text !== '') yield { type: 'text', text: block.text };
    if (block.type === 'tool_use') {
      this.#open.set(index, { type: 'tool_use', id: block.id, name: block.name, args: '' });
    }
    if (block.type === 'thinking') {
      this.#open.set(index, { type: 'thinking', thinking: block.thinking, signature: block.signature });
    }
    if (block.type === 'redacted_thinking')
      this.#open.set(index, { type: 'redacted_thinking', data: block.data });
  }

  *#continue(index: number, delta: Anthropic.RawContentBlockDelta): Iterable<ModelPart> {
    const block = this.#open.get(index);
    if (delta.type === 'text_delta') yield { type: 'text', text: delta.text };
    else if (delta.type === 'input_json_delta' && block?.type === 'tool_use')
      block.args += delta.partial_json;
    else if (delta.type === 'thinking_delta' && block?.type === 'thinking') block.thinking += delta.thinking;
    else if (delta.type === 'signature_delta' && block?.type === 'thinking')
      block.signature += delta.signature;
  }

  *#finish(index: number): Iterable<ModelPart> {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (block === undefined) return;
    if (block.type === 'tool_use') {
      yield { type: 'tool-call', callId: block.id, name: block.name, args: block.args };
    } else yield { type: 'provider-data', data: block };
  }
}

function inputTokensOf(usage: Anthropic.Usage | undefined): number | undefined {
  if (usage === undefined || !Number.isSafeInteger(usage.input_tokens)) return undefined;
  return usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0);
}

function finishReason(reason: Anthropic.StopReason | null): FinishReason {
  if (reason === 'end_turn' || reason === 'stop_sequence') return 'stop';
  if (reason === 'tool_use') return 'tool-calls';
  if (reason === 'max_tokens') return 'length';
  return reason === 'refusal' ? 'content-filter' : 'other';
}
