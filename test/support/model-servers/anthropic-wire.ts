/** An event as the server sends it. */
export function event(type: string, fields: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** How every answer begins. */
export function messageStart(usage: object | null = { input_tokens: 7, output_tokens: 1 }): string {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'test-model',
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  return event('message_start', { message: { ...message, ...(usage !== null && { usage }) } });
}

/** One content block, its deltas one after the other. */
export function block(index: number, start: object, deltas: readonly object[]): string {
  return [
    event('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ].join('');
}

/** A block of text. */
export function textBlock(index: number, ...pieces: string[]): string {
  return block(
    index,
    { type: 'text', text: '' },
    pieces.map((text) => ({ type: 'text_delta', text })),
  );
}

/** A tool call. */
export function toolBlock(index: number, id: string, name: string, ...pieces: string[]): string {
  return block(
    index,
    { type: 'tool_use', id, name, input: {} },
    pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  );
}

/** How every answer ends. */
export function messageEnd(stopReason: string | null, usage: object | null = { output_tokens: 5 }): string {
  const delta = { delta: { stop_reason: stopReason, stop_sequence: null }, ...(usage !== null && { usage }) };
  return `${event('message_delta', delta)}${event('message_stop')}`;
}
