import type { Anthropic } from '@anthropic-ai/sdk';
import { isJsonObject } from '../../json/json-values.js';
import type { AssistantContent, ModelMessage, ToolResult } from './model.js';

type Block = Anthropic.ContentBlockParam;

/** The system texts of a conversation, which this provider takes apart from its messages. */
export function systemText(messages: readonly ModelMessage[]): string {
  return messages.flatMap((message) => (message.role === 'system' ? [message.text] : [])).join('\n\n');
}

/**
 * A conversation in this provider's order: user and assistant in turn, the results of one step all in one user
 * message that begins with them, no empty text. What follows from the same side joins the message before it.
 */
export function anthropicMessages(messages: readonly ModelMessage[]): Anthropic.MessageParam[] {
  const turns: { role: 'user' | 'assistant'; content: Block[] }[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks = blocksOf(message);
    const last = turns.at(-1);
    if (blocks.length === 0) continue;
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: blocks });
  }
  return turns;
}

function blocksOf(message: Exclude<ModelMessage, { role: 'system' }>): Block[] {
  switch (message.role) {
    case 'user':
      return textBlocks(message.text);
    case 'tool':
      return message.results.map(resultBlock);
    case 'assistant':
      return message.content.flatMap(assistantBlocks);
  }
}

function textBlocks(text: string): Block[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function resultBlock({ callId, content, isError }: ToolResult): Block {
  return { type: 'tool_result', tool_use_id: callId, content, ...(isError && { is_error: true }) };
}

function assistantBlocks(part: AssistantContent): Block[] {
  if (part.type === 'text') return textBlocks(part.text);
  if (part.type === 'tool-call') {
    return [{ type: 'tool_use', id: part.callId, name: part.name, input: part.args.parse() }];
  }
  return isThinking(part.data) ? [part.data] : [];
}

/** A block of this provider's thinking: it wants it back as it was, signature and all. */
export function isThinking(
  data: unknown,
): data is Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam {
  if (!isJsonObject(data)) return false;
  if (data['type'] === 'redacted_thinking') return typeof data['data'] === 'string';
  return (
    data['type'] === 'thinking' &&
    typeof data['thinking'] === 'string' &&
    typeof data['signature'] === 'string'
  );
}
