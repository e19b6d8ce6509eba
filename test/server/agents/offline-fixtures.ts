import type { ModelMessage, ModelPart, ModelTool } from '../../../server/src/agents/models/model.js';
import { OfflineModel } from '../../../server/src/agents/models/offline.js';
import { builtInTools } from '../../../server/src/agents/native-tools.js';
import { JsonText } from '../../../server/src/json/json-text.js';

const now = () => Date.UTC(2026, 9, 5, 14, 3);

/** A tool of a model, out of its parts. */
export function tool(
  name: string,
  description: string,
  properties: object,
  required: string[] = [],
): ModelTool {
  return { name, description, parameters: JsonText.of({ type: 'object', properties, required }) };
}

/** Schema of a text. */
export const text = { type: 'string' };
const clock = builtInTools().get('current_time');
/** Tools of every kind that the matcher must tell apart. */
export const tools: readonly ModelTool[] = [
  {
    name: 'current_time',
    description: clock?.spec.description ?? '',
    parameters: JsonText.of(clock?.spec.parameters),
  },
  tool('get_forecast', 'Retrieve weather forecast for a location.', { city: text }, ['city']),
  tool('addNumbers', 'Adds two numbers.', { a: { type: 'number' }, b: { type: 'number' } }, ['a', 'b']),
  tool(
    'search_files',
    'Search the files of a repository.',
    {
      query: text,
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      includeHidden: { type: 'boolean' },
    },
    ['query'],
  ),
  tool('translate', 'Translate a text.', { text, language: text }, ['text', 'language']),
  tool(
    'set_thermostat',
    'Sets the temperature of a room.',
    {
      room: text,
      degrees: { type: 'number' },
      unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
    },
    ['room', 'degrees', 'unit'],
  ),
  tool('send_email', 'Send an email.', { to: { type: 'string', format: 'email' }, subject: text }, [
    'to',
    'subject',
  ]),
  tool('list_events', 'Events of the calendar.', { date: { type: 'string', format: 'date' } }, ['date']),
  tool('book_train', 'Book a train ticket.', { from: text, to: text }, ['from', 'to']),
  tool('sum_list', 'Sum up a list.', { values: { type: 'array', items: { type: 'number' } } }, ['values']),
  tool('read_file', 'Read one file.', { path: text }, ['path']),
  tool('echo', 'Says the same again.', { message: text }, ['message']),
];

/** Everything the model says; its clock stands at 2026-10-05 14:03 UTC. */
export async function answer(messages: readonly ModelMessage[], offered = tools): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  const request = { messages, tools: offered, signal: new AbortController().signal };
  for await (const part of new OfflineModel(now).stream(request)) parts.push(part);
  return parts;
}

/** The calls of the first step, each as name and arguments. */
export async function callsFor(instruction: string, offered = tools): Promise<string[]> {
  const parts = await answer([{ role: 'user', text: instruction }], offered);
  return parts.flatMap((part) => (part.type === 'tool-call' ? [`${part.name} ${part.args}`] : []));
}

/** All text of one step. */
export async function textFor(messages: readonly ModelMessage[], offered = tools): Promise<string> {
  const parts = await answer(messages, offered);
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
