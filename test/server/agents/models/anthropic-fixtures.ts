import { AnthropicModel } from '../../../../server/src/agents/models/anthropic.js';
import {
  event,
  messageEnd,
  messageStart,
  textBlock,
  toolBlock,
} from '../../../support/model-servers/anthropic-wire.js';
import type { ModelServer } from '../../../support/model-servers/scripted-server.js';

/** No error, log or event may show it. */
export const KEY = 'a-key-that-nobody-may-see';

/** The adapter, on the official client, at a test server. */
export async function modelAt({ url }: ModelServer, stepTimeoutMs = 10_000): Promise<AnthropicModel> {
  return AnthropicModel.create(
    {
      provider: 'anthropic',
      baseUrl: url,
      model: 'test-model',
      apiKey: 'env:KEY',
      maxOutputTokens: 99,
      stepTimeoutMs,
    },
    KEY,
  );
}

/** A whole stream with these blocks. */
export function answer(blocks: string, stopReason: string | null = 'end_turn'): string {
  return `${messageStart()}${blocks}${messageEnd(stopReason)}`;
}

/** A stream that says "Hello", with a ping in it. */
export const helloStream = answer(`${event('ping')}${textBlock(0, 'Hel', 'lo')}`);

/** A stream with some text and one call. */
export const oneCall = answer(
  `${textBlock(0, 'I look.')}${toolBlock(1, 'c1', 'get_forecast', '', '{"city":', '"Zürich"}')}`,
  'tool_use',
);

/** The body of a refusal, as Anthropic writes it; its text must reach nobody. */
export function refusal(type: string): object {
  return { type: 'error', error: { type, message: `secret text ${KEY}` }, request_id: 'req_1' };
}
