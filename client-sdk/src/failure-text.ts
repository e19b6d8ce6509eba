import { MAX_ERROR_LENGTH } from '@remotes-hub/protocol/limits';
import { encodeJson } from './json-values.js';

const NO_MESSAGE = 'the function failed without a message';

/**
 * The text of what a handler threw, never empty: a string itself, an error's message, else the JSON of an object.
 * A stack trace is cut off; callers are other people's programs and models.
 */
export function failureText(thrown: unknown): string {
  const cut = describe(thrown).trim().slice(0, MAX_ERROR_LENGTH);
  // within one line: over many, the search would take the square of their number
  const [text = ''] = cut.split(/\n[^\S\n]+at /u, 1);
  return text.trim() || NO_MESSAGE;
}

function describe(thrown: unknown): string {
  try {
    if (typeof thrown === 'string') return thrown;
    if (typeof thrown === 'symbol' || typeof thrown === 'bigint') return thrown.toString();
    if (thrown === undefined || thrown === null || typeof thrown === 'function') return '';
    if (typeof thrown === 'object' && 'message' in thrown && typeof thrown.message === 'string') {
      return thrown.message;
    }
    // The other members of an error may hold paths and the like.
    return thrown instanceof Error ? '' : encodeJson(thrown, 'the error').text;
  } catch {
    return ''; // a getter that throws, a circular object
  }
}
