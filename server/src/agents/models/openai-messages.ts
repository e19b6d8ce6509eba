import type { OpenAI } from 'openai';
import { isJsonObject, type JsonObject } from '../../json/json-values.js';
import type { AssistantContent, ModelMessage, ModelTool } from './model.js';
import { reasoningOf, type Reasoning } from './openai-reasoning.js';
import { extraContentOf } from './openai-tool-calls.js';

type ChatMessage = OpenAI.ChatCompletionMessageParam;

/**
 * A conversation in this provider's order: one tool message for each call, in the order of the calls. Users'
 * messages in a row become one, since some servers refuse two.
 */
export function chatMessages(messages: readonly ModelMessage[]): ChatMessage[] {
  const joined: ChatMessage[] = [];
  for (const message of messages.flatMap(chatMessagesOf)) {
    const last = joined.at(-1);
    if (last?.role === 'user' && message.role === 'user') {
      const content = `${textContent(last)}\n\n${textContent(message)}`;
      joined[joined.length - 1] = { role: 'user', content };
    } else joined.push(message);
  }
  return joined;
}

/** A tool as a request names it. */
export function chatTool({ name, description, parameters }: ModelTool): OpenAI.ChatCompletionTool {
  const schema = parameters.parse();
  return {
    type: 'function',
    function: { name, description, parameters: isJsonObject(schema) ? { ...schema } : {} },
  };
}

function chatMessagesOf(message: ModelMessage): ChatMessage[] {
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

function textContent({ content }: OpenAI.ChatCompletionUserMessageParam): string {
  return typeof content === 'string' ? content : '';
}

function assistantMessage(content: readonly AssistantContent[]): ChatMessage {
  let text = '';
  let reasoning: Reasoning = {};
  let extra: JsonObject | undefined;
  const calls: OpenAI.ChatCompletionMessageToolCall[] = [];
  for (const part of content) {
    if (part.type === 'text') text += part.text;
    else if (part.type === 'provider-data') {
      reasoning = { ...reasoning, ...reasoningOf(part.data) };
      extra = extraContentOf(part.data); // of the call that comes next
    } else {
      calls.push({ ...chatCall(part), ...(extra !== undefined && { extra_content: extra }) });
      extra = undefined;
    }
  }
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text, // null is refused where there is no call
    ...reasoning,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function chatCall({
  callId,
  name,
  args,
}: Extract<AssistantContent, { type: 'tool-call' }>): OpenAI.ChatCompletionMessageToolCall {
  return { id: callId, type: 'function', function: { name, arguments: args.text } };
}
