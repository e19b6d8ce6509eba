import { isDeepStrictEqual } from 'node:util';
import { errorCodes, type ErrorCode } from '@remotes-hub/protocol/error-codes';
import { isJsonObject, type JsonObject } from '../json/json-values.js';
import { RuleFailure } from './rule.js';

/** Longest piece of a message that a report shows. */
const MAX_SHOWN = 400;

/** A value as a report shows it: JSON in one line, cut. */
export function show(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)} … (${text.length} characters)`;
}

/** @throws {RuleFailure} unless it holds */
export function expectThat(holds: boolean, expected: string, received: unknown): asserts holds {
  if (!holds) throw new RuleFailure(expected, show(received));
}

/** @throws {RuleFailure} unless both are the same JSON value */
export function expectEqual(received: unknown, expected: unknown, what: string): void {
  expectThat(isDeepStrictEqual(received, expected), `${what}: ${show(expected)}`, received);
}

/** @throws {RuleFailure} unless the message has these members, whatever else it has */
export function expectMembers(received: JsonObject, expected: JsonObject, what: string): void {
  const fits = Object.entries(expected).every(
    ([name, value]) => Object.hasOwn(received, name) && isDeepStrictEqual(received[name], value),
  );
  expectThat(fits, `${what} with ${show(expected)}`, received);
}

/**
 * Checks an error reply. What its sentence must contain may be given.
 * @throws {RuleFailure}
 */
export function expectError(reply: JsonObject, code: ErrorCode, what: string, text = ''): void {
  const fits =
    typeof reply['error'] === 'string' &&
    reply['error'] !== '' &&
    reply['error'].includes(text) &&
    reply['code'] === code &&
    !('action' in reply) &&
    !('result' in reply);
  const about = text === '' ? '' : ` whose text has ${show(JSON.stringify(text))}`;
  expectThat(fits, `the error ${code}${about} for ${what}`, reply);
}

/** Checks an error reply whose code is any of the list. @throws {RuleFailure} */
export function expectAnyError(reply: JsonObject, what: string): void {
  const isKnown = errorCodes.some((code) => code === reply['code']);
  expectThat(
    typeof reply['error'] === 'string' && reply['error'] !== '' && isKnown && !('action' in reply),
    `an error with a text and a code of the specification for ${what}`,
    reply,
  );
}

/** A member of a member: `undefined` when any of them is missing. */
export function memberOf(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (!isJsonObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

/** A member that must be a string. @throws {RuleFailure} */
export function textOf(value: unknown, ...path: readonly string[]): string {
  const text = memberOf(value, ...path);
  expectThat(typeof text === 'string', `${path.join('.')}: a string`, value);
  return text;
}
