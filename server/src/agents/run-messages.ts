import type { JsonText } from '../json/json-text.js';
import type { AssistantContent, ModelMessage, ToolResult } from './models/model.js';
import { contextMessage } from './untrusted-context.js';

/** What a run begins with. */
export interface RunOpening {
  /** The agent's instructions. */
  readonly instructions: string | undefined;
  /** `options.system`: comes after them. */
  readonly system: string | undefined;
  /** What was said in earlier runs of the conversation. */
  readonly history: readonly ModelMessage[];
  /** `options.context`: data that is not to be trusted. */
  readonly context: JsonText | undefined;
  /** What the user said. */
  readonly instruction: string;
}

/** The messages of one run: what the model is sent in each step, and what a conversation keeps of it. */
export class RunMessages {
  readonly #before: readonly ModelMessage[];
  readonly #turn: ModelMessage[] = [];

  constructor({ instructions, system, history, context, instruction }: RunOpening) {
    const text = [instructions, system].filter((part) => part !== undefined && part !== '').join('\n\n');
    this.#before = [...(text === '' ? [] : [{ role: 'system', text } as const]), ...history];
    if (context !== undefined) this.#turn.push({ role: 'user', text: contextMessage(context) });
    this.#turn.push({ role: 'user', text: instruction });
  }

  /** Everything, for the next step. */
  all(): ModelMessage[] {
    return [...this.#before, ...this.#turn];
  }

  /** What the model said. Nothing is added when it said nothing. */
  said(content: readonly AssistantContent[]): void {
    if (content.length > 0) this.#turn.push({ role: 'assistant', content });
  }

  /** A step with calls, and one result for each of them in their order. */
  called(content: readonly AssistantContent[], results: readonly ToolResult[]): void {
    this.#turn.push({ role: 'assistant', content }, { role: 'tool', results });
  }

  /**
   * What a conversation keeps of this run: its context, instruction, answers, calls and results. What only the
   * adapter of a model reads (reasoning, signatures) stays where there were calls: DeepSeek refuses every later
   * request without it, and Anthropic and Gemini advise to send it. Of a turn of mere words none needs it, and some
   * servers refuse it.
   */
  turn(): ModelMessage[] {
    if (this.#turn.some(({ role }) => role === 'tool')) return [...this.#turn];
    return this.#turn.flatMap((message): ModelMessage[] => {
      if (message.role !== 'assistant') return [message];
      const content = message.content.filter(({ type }) => type !== 'provider-data');
      return content.length === 0 ? [] : [{ role: 'assistant', content }];
    });
  }
}
