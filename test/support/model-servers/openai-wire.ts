/** One piece of a streamed chat completion. */
export interface ChunkParts {
  readonly delta?: object;
  readonly finish?: string | null;
  readonly usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null;
}

/** A chunk as the server sends it. */
export function chunk({ delta = {}, finish = null, usage }: ChunkParts): string {
  const data = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'test-model',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...(usage !== undefined && { usage }),
  };
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** The last chunk with the usage, which has no choices. */
export function usageChunk(input: number, output: number): string {
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'test-model', choices: [], usage })}\n\n`;
}

/** How every stream begins. */
export const start = chunk({ delta: { role: 'assistant', content: '' } });

/** What ends every stream. */
export const done = 'data: [DONE]\n\n';

/** A whole answer of text. */
export function textStream(...pieces: string[]): string {
  const texts = pieces.map((content) => chunk({ delta: { content } })).join('');
  return `${start}${texts}${chunk({ finish: 'stop' })}${usageChunk(7, 3)}${done}`;
}

/** A delta of tool calls. */
export function toolDelta(...calls: object[]): string {
  return chunk({ delta: { tool_calls: calls } });
}
