import type { ModelMessage } from './models/model.js';

/** Most that one conversation holds. */
export interface ConversationBounds {
  readonly maxMessages: number;
  readonly maxCharacters: number;
}

/** Messages, and how much they hold. */
export interface SizedMessages {
  readonly messages: readonly ModelMessage[];
  readonly characters: number;
}

/** What a message counts beside its text. */
const CHARACTERS_PER_MESSAGE = 64;

/**
 * The earlier messages and a new turn, without as many of the oldest turns as do not fit. A turn goes whole, so
 * that a result never loses its call. Of a new turn that is too long alone, only the words stay: what the user
 * said and what the model answered.
 */
export function fitTurns(
  earlier: readonly ModelMessage[],
  turn: readonly ModelMessage[],
  bounds: ConversationBounds,
): SizedMessages {
  const settled = settledTurn(turn);
  const newest = [settled, wordsOf(settled)].map(sized).find((one) => fits(one, bounds));
  if (newest === undefined || newest.messages.length === 0) return sized(earlier);
  let kept = newest;
  for (const older of turnsOf(earlier).map(sized).toReversed()) {
    const grown = {
      messages: [...older.messages, ...kept.messages],
      characters: older.characters + kept.characters,
    };
    if (!fits(grown, bounds)) break;
    kept = grown;
  }
  return kept;
}

/** The messages by turn. A turn begins with a message of the user that comes after one of somebody else. */
function turnsOf(messages: readonly ModelMessage[]): ModelMessage[][] {
  const turns: ModelMessage[][] = [];
  let previous: ModelMessage['role'] | undefined;
  for (const message of messages) {
    const turn = turns.at(-1);
    if (turn === undefined || (message.role === 'user' && previous !== 'user')) turns.push([message]);
    else turn.push(message);
    previous = message.role;
  }
  return turns;
}

/** What may be said again in a later request; nothing when the model has not answered at all. */
function settledTurn(turn: readonly ModelMessage[]): readonly ModelMessage[] {
  const messages = turn.filter(({ role }) => role !== 'system');
  const last = messages.at(-1);
  if (last?.role === 'assistant' && last.content.some(({ type }) => type === 'tool-call')) messages.pop();
  return messages.some(({ role }) => role === 'assistant') ? messages : [];
}

/** A turn as words alone; nothing when the model said none. */
function wordsOf(turn: readonly ModelMessage[]): readonly ModelMessage[] {
  const text = turn
    .flatMap((message) => (message.role === 'assistant' ? message.content : []))
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
  if (text === '') return [];
  return [
    ...turn.filter(({ role }) => role === 'user'),
    { role: 'assistant', content: [{ type: 'text', text }] },
  ];
}

function sized(messages: readonly ModelMessage[]): SizedMessages {
  const characters = messages.reduce((sum, message) => sum + CHARACTERS_PER_MESSAGE + sizeOf(message), 0);
  return { messages, characters };
}

function sizeOf(message: ModelMessage): number {
  if (message.role === 'assistant') return JSON.stringify(message.content).length;
  return message.role === 'tool' ? JSON.stringify(message.results).length : message.text.length;
}

function fits({ messages, characters }: SizedMessages, bounds: ConversationBounds): boolean {
  return messages.length <= bounds.maxMessages && characters <= bounds.maxCharacters;
}
