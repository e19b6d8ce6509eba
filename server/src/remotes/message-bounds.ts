import type { JsonText } from '../json/json-text.js';
import { MessageText } from '../json/message-text.js';

/** Bounds of one message. */
export interface MessageBounds {
  readonly maxMessageBytes: number;
  readonly maxJsonDepth: number;
}

/** Why a message cannot hold a value, as the predicate of a sentence about it. */
export interface Excess {
  readonly of: 'length' | 'depth';
  readonly text: string;
}

/** Whether a value of the host program is beyond what a message of a session could have brought. */
export function excessOf({ text }: JsonText, bounds: MessageBounds): Excess | undefined {
  const { maxMessageBytes, maxJsonDepth } = bounds;
  const bytes = Buffer.byteLength(text);
  if (bytes > maxMessageBytes) {
    return { of: 'length', text: `${bytes} bytes long, a message holds ${maxMessageBytes}` };
  }
  const depth = MessageText.scan(`{"value":${text}}`)?.depth ?? 0;
  return depth > maxJsonDepth
    ? { of: 'depth', text: `nested deeper than ${maxJsonDepth} levels` }
    : undefined;
}
