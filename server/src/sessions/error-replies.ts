import type { ErrorCode } from '@remotes-hub/protocol';
import type { core } from 'zod';
import type { JsonFields } from '../json/json-text.js';
import { RemoteError } from '../remotes/remote-error.js';
import { AuthenticationError } from '../authentication/authenticate.js';
import { EnvelopeError } from './envelope.js';

const MAX_ISSUES = 3;
const MAX_TEXT_LENGTH = 1_000;

/** A refused request that is no call, as reply fields. */
export function errorFields(code: ErrorCode, error: string): JsonFields {
  return { error: error.slice(0, MAX_TEXT_LENGTH), code };
}

/**
 * The reply to a request that failed: what went wrong where that is the caller's to know, else one generic
 * sentence. `isCall` adds whether the function ran, and as which call.
 */
export function failureFields(failure: unknown, isCall: boolean): JsonFields {
  if (failure instanceof RemoteError) return remoteErrorFields(failure, isCall);
  if (failure instanceof AuthenticationError) {
    return { ...errorFields(failure.code, failure.message), retryAfterMs: failure.retryAfterMs };
  }
  const error =
    failure instanceof EnvelopeError
      ? failure
      : new RemoteError('internal-error', 'the hub failed; this was logged');
  const executed = error instanceof EnvelopeError ? 'no' : error.executed;
  return { ...errorFields(error.code, error.message), ...(isCall && { executed, retryable: false }) };
}

function remoteErrorFields(
  { code, message, executed, retryable, requestId, retryAfterMs }: RemoteError,
  isCall: boolean,
): JsonFields {
  return { error: message, code, ...(isCall && { executed, retryable, requestId }), retryAfterMs };
}

/** Which fields of a message do not fit and why: `body.remotename: expected string, received number`. */
export function describeIssues(issues: readonly core.$ZodIssue[]): string {
  const texts = issues.slice(0, MAX_ISSUES).map(describeIssue);
  const more = issues.length - texts.length;
  return texts.join('; ') + (more > 0 ? `; and ${more} more` : '');
}

function describeIssue({ path, message }: core.$ZodIssue): string {
  const text = message.replace(/^Invalid input: /u, '').slice(0, 300);
  return path.length === 0 ? text : `${describePath(path)}: ${text}`;
}

function describePath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else text += (text === '' ? '' : '.') + String(key).slice(0, 64);
  }
  return text;
}
