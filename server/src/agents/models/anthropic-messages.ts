import type { Anthropic } from '@anthropic-ai/sdk';
import { isJsonObject } from '../../json/json-values.js';
import { AnthropicCallIds } from './anthropic-call-ids.js';
import type { AssistantContent, ModelMessage, ToolResult } from './model.js';

type Block = Anthropic.ContentBlockParam;
type Thinking = Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam;

/** The system texts of a conversation, which this provider takes apart from its messages. */
export function systemText(messages: readonly ModelMessage[]): string {
  const texts = messages.flatMap((message) => (message.role === 'system' ? [message.text] : []));
  return texts.filter((text) => text.trim() !== '').join('\n\n');
}

/**
 * A conversation in this provider's order: user and assistant in turn, the results of one step all in one user
 * message that begins with them, no empty text. What follows from the same side joins the message before it.
 * @param hasTools a request without tools may hold no calls: of earlier runs only the words stay then, and no
 *   thinking, which belongs to the calls
 */
export function anthropicMessages(
  messages: readonly ModelMessage[],
  hasTools: boolean,
): Anthropic.MessageParam[] {
  const ids = new AnthropicCallIds();
  const turns: { role: 'user' | 'assistant'; content: Block[] }[] = [];
  const instruction = messages.findLastIndex(({ role }) => role === 'user');
  for (const [index, message] of messages.entries()) {
    const keepsCalls = hasTools || index > instruction;
    const blocks = blocksOf(message, ids).filter(({ type }) => keepsCalls || type === 'text');
    if (message.role === 'assistant') dropLastThinking(blocks);
    if (blocks.length === 0) continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: blocks });
  }
  return turns;
}

function blocksOf(message: ModelMessage, ids: AnthropicCallIds): Block[] {
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return textBlocks(message.text);
    case 'tool':
      return message.results.map((result) => resultBlock(result, ids));
    case 'assistant':
      ids.beginStep();
      return message.content.flatMap((part) => assistantBlocks(part, ids));
  }
}

/** Text of nothing but white space is refused. */
function textBlocks(text: string): Block[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function resultBlock({ callId, content, isError }: ToolResult, ids: AnthropicCallIds): Block {
  return { type: 'tool_result', tool_use_id: ids.of(callId), content, ...(isError && { is_error: true }) };
}

function assistantBlocks(part: AssistantContent, ids: AnthropicCallIds): Block[] {
  if (part.type === 'text') return textBlocks(part.text);
  if (part.type === 'tool-call') {
    // `input` is an object, which the client turns into text: the model reads 2^53 + 1 in its own earlier call as
    // 2^53, while the function has got the number as it was written
    return [{ type: 'tool_use', id: ids.add(part.callId), name: part.name, input: part.args.parse() }];
  }
  return isThinking(part.data) ? [part.data] : [];
}

/** A message may not end with thinking. It does when that is all the model had time for. */
function dropLastThinking(blocks: Block[]): void {
  while (isThinking(blocks.at(-1))) blocks.pop();
}

/** A block of this provider's thinking: it wants it back as it was, signature and all. */
function isThinking(data: unknown): data is Thinking {
  if (!isJsonObject(data)) return false;
  if (data['type'] === 'redacted_thinking') return typeof data['data'] === 'string';
  return (
    data['type'] === 'thinking' &&
    typeof data['thinking'] === 'string' &&
    typeof data['signature'] === 'string'
  );
}
