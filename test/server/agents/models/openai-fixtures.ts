import { OpenAiCompatibleModel } from '../../../../server/src/agents/models/openai-compatible.js';
import type { ModelPart } from '../../../../server/src/agents/models/model.js';
import { chunk, done, start, toolDelta, usageChunk } from '../../../support/model-servers/openai-wire.js';
import {
  startModelServer,
  type Answer,
  type ModelServer,
} from '../../../support/model-servers/scripted-server.js';
import { ask } from './adapter.js';

/** What no error may repeat. */
export const KEY = 'a-key-that-nobody-may-see';

/** The adapter at a test server, with its real client. */
export async function modelAt(
  { url }: Pick<ModelServer, 'url'>,
  more: { stepTimeoutMs?: number; maxOutputTokens?: number } = {},
  apiKey: string | undefined = KEY,
): Promise<OpenAiCompatibleModel> {
  const config = {
    provider: 'openai-compatible',
    baseUrl: `${url}/v1`,
    model: 'test-model',
    stepTimeoutMs: 10_000,
    ...more,
  } as const;
  return OpenAiCompatibleModel.create(config, apiKey);
}

/** What the adapter says of one answer of the server. */
export async function partsOf(answer: Answer): Promise<ModelPart[]> {
  await using server = await startModelServer([answer]);
  return await ask(await modelAt(server));
}

/** The delta of a call of `f`. */
export const f = (args: string, more: object = {}) => ({
  type: 'function',
  function: { name: 'f', arguments: args },
  ...more,
});

/** More of the arguments of a call. */
export const more = (args: string, fields: object = {}) => ({ function: { arguments: args }, ...fields });

/** A call in pieces, with a character of two bytes, as OpenAI sends it. */
export const oneCall = [
  start,
  toolDelta({ index: 0, id: 'c1', type: 'function', function: { name: 'get_forecast', arguments: '' } }),
  toolDelta({ index: 0, function: { arguments: '{"city":' } }),
  toolDelta({ index: 0, function: { arguments: '"Zürich"}' } }),
  chunk({ finish: 'tool_calls' }),
  usageChunk(9, 4),
  done,
].join('');
