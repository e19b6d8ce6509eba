import { JsonText } from '../../../../server/src/json/json-text.js';
import type {
  Model,
  ModelMessage,
  ModelPart,
  ModelTool,
} from '../../../../server/src/agents/models/model.js';

/** One tool, as a request names it. */
export const forecastTool: ModelTool = {
  name: 'get_forecast',
  description: 'Retrieve weather forecast for a location.',
  parameters: JsonText.of({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
};

/** What one step asks by default. */
export const hello: readonly ModelMessage[] = [{ role: 'user', text: 'hello' }];

/** Everything an adapter says in one step. */
export async function ask(
  model: Model,
  messages: readonly ModelMessage[] = hello,
  tools: readonly ModelTool[] = [],
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.stream({ messages, tools, signal })) parts.push(part);
  return parts;
}

/** The text of a step. */
export function textOf(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** The tool calls of a step. */
export function callsOf(parts: readonly ModelPart[]): (readonly [id: string, name: string, args: string])[] {
  return parts.flatMap((part) =>
    part.type === 'tool-call' ? [[part.callId, part.name, part.args] as const] : [],
  );
}

/** A conversation with two calls of one step, the second of which failed. */
export const twoCalls: readonly ModelMessage[] = [
  { role: 'system', text: 'be brief' },
  { role: 'user', text: 'go' },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'well' },
      { type: 'tool-call', callId: 'a', name: 'f', args: new JsonText('{"n":1}') },
      { type: 'tool-call', callId: 'b', name: 'g', args: new JsonText('{}') },
    ],
  },
  {
    role: 'tool',
    results: [
      { callId: 'a', name: 'f', content: '1', isError: false },
      { callId: 'b', name: 'g', content: 'error: no', isError: true },
    ],
  },
];
