import type { Model } from '../../../../server/src/agents/models/model.js';
import {
  event,
  messageEnd,
  messageStart,
  textBlock,
  toolBlock,
} from '../../../support/model-servers/anthropic-wire.js';
import { chunk, done, start, textStream, toolDelta } from '../../../support/model-servers/openai-wire.js';
import type { ModelServer } from '../../../support/model-servers/scripted-server.js';
import { modelAt as anthropicAt, refusal } from './anthropic-fixtures.js';
import { f, KEY, modelAt as openAiAt } from './openai-fixtures.js';

/** One of the two ways in which a model is spoken to, for what must hold on both. */
export interface Wire {
  readonly provider: 'openai-compatible' | 'anthropic';
  /** The adapter alone. */
  readonly modelAt: (server: ModelServer, stepTimeoutMs: number) => Promise<Model>;
  /** The model of an agent. */
  readonly config: (server: ModelServer, stepTimeoutMs: number) => ModelOfAgent;
  /** A whole answer of text. */
  readonly text: (said: string) => string;
  /** A whole answer that calls a function, with what the model thought before, if anything. */
  readonly call: (name: string, args: string, thought?: string) => string;
  /** An answer of text that stops for another reason than its end. */
  readonly stopped: (said: string, reason: 'length' | 'refusal') => string;
  /** The beginning of an answer. */
  readonly begun: string;
  /** The body of a refusal. */
  readonly refusal: (kind: string) => object;
}

type ModelOfAgent =
  | { provider: 'openai-compatible'; baseUrl: string; model: string; apiKey: string; stepTimeoutMs: number }
  | { provider: 'anthropic'; baseUrl: string; model: string; apiKey: string; stepTimeoutMs: number };

const openAi: Wire = {
  provider: 'openai-compatible',
  modelAt: async (server, stepTimeoutMs) => openAiAt(server, { stepTimeoutMs }),
  config: ({ url }, stepTimeoutMs) => ({
    provider: 'openai-compatible',
    baseUrl: `${url}/v1`,
    model: 'm',
    apiKey: KEY,
    stepTimeoutMs,
  }),
  text: textStream,
  call: (name, args, thought) => {
    const thinking = thought === undefined ? '' : chunk({ delta: { reasoning_content: thought } });
    const call = toolDelta({ ...f(args), index: 0, id: 'c', function: { name, arguments: args } });
    return `${start}${thinking}${call}${chunk({ finish: 'tool_calls' })}${done}`;
  },
  stopped: (said, reason) =>
    `${start}${chunk({ delta: { content: said } })}${chunk({ finish: reason === 'length' ? 'length' : 'content_filter' })}${done}`,
  begun: start + chunk({ delta: { content: 'Hel' } }),
  refusal: (kind) => ({ error: { type: kind, message: `secret text ${KEY}` } }),
};

const anthropic: Wire = {
  provider: 'anthropic',
  modelAt: anthropicAt,
  config: ({ url }, stepTimeoutMs) => ({
    provider: 'anthropic',
    baseUrl: url,
    model: 'm',
    apiKey: KEY,
    stepTimeoutMs,
  }),
  text: (said) => `${messageStart()}${textBlock(0, said)}${messageEnd('end_turn')}`,
  call: (name, args, thought) => {
    const block = { type: 'thinking', thinking: thought, signature: 'sig' };
    const begin = event('content_block_start', { index: 0, content_block: block });
    const thinking = thought === undefined ? '' : begin + event('content_block_stop', { index: 0 });
    return `${messageStart()}${thinking}${toolBlock(1, 'c', name, args)}${messageEnd('tool_use')}`;
  },
  stopped: (said, reason) =>
    `${messageStart()}${textBlock(0, said)}${messageEnd(reason === 'length' ? 'max_tokens' : 'refusal')}`,
  begun:
    messageStart() + event('content_block_start', { index: 0, content_block: { type: 'text', text: 'Hel' } }),
  refusal,
};

/** Both, for `test.each`. */
export const wires: readonly Wire[] = [openAi, anthropic];
