import type { ErrorCode } from '@remotes-hub/protocol';
import type { JsonText } from '../json/json-text.js';
import type { RemoteError } from '../remotes/remote-error.js';

/** Longest content of a tool result, in bytes of UTF-8; the note that something is missing comes on top. */
export const MAX_TOOL_RESULT_BYTES = 64 * 1024;

/** What a model is told of one tool call. */
export interface ToolOutcome {
  /** JSON text of the result, never empty; or `error: …`. */
  readonly content: string;
  readonly isError: boolean;
  /** Only on a failure. */
  readonly code?: ErrorCode;
}

/** A result: its JSON text, so that `0`, `""`, `false` and `null` are told apart and nothing is empty. */
export function succeeded(result: JsonText): ToolOutcome {
  return { content: cut(result.text), isError: false };
}

/** A failure in words. */
export function failed(code: ErrorCode, reason: string): ToolOutcome {
  return { content: cut(`error: ${reason}`), isError: true, code };
}

/** A failed call: also says in words whether the function ran, since a model decides whether to try again. */
export function failedWith(error: RemoteError): ToolOutcome {
  return failed(error.code, `${error.message}${executionNote(error)}`);
}

function executionNote({ executed, retryable }: RemoteError): string {
  if (executed === 'yes') return '';
  if (executed === 'unknown') return ' (it is unknown whether the function ran)';
  return retryable
    ? ' (the function did not run; the call may be tried again)'
    : ' (the function did not run)';
}

function cut(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_TOOL_RESULT_BYTES) return text;
  // encodeInto stops before a character that does not fit whole
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_TOOL_RESULT_BYTES));
  return `${text.slice(0, read)}\n[cut off: the result has ${bytes} bytes, only its beginning is shown]`;
}
