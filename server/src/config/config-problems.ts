import type * as z from 'zod';
import {
  acceptedValues,
  configJsonSchema,
  keysAt,
  ownValue,
  schemaAt,
  type JsonSchema,
} from './accepted-values.js';
import { formatPath, type ConfigProblem } from './config-error.js';
import { nearestWord } from './nearest-word.js';

/** What the schema found wrong, each with its path, what is accepted there, and what was found. */
export function describeIssues(issues: readonly z.core.$ZodIssue[], input: unknown): ConfigProblem[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: formatPath([...issue.path, key]),
        message: unknownKey(key, issue.path, input),
      }));
    }
    return [{ path: formatPath(issue.path), message: describeIssue(issue, input) }];
  });
}

function describeIssue(issue: z.core.$ZodIssue, input: unknown): string {
  if (issue.message.startsWith('expected')) return issue.message; // the schema's own words
  const schema = schemaAt(issue.path, input);
  const accepted = schema === undefined ? 'another value' : acceptedValues(schema);
  return `expected ${accepted}, received ${received(valueAt(input, issue.path), accepted)}`;
}

/** The kind of a value; a number itself where a number belongs, never a text: it may be a secret. */
function received(value: unknown, accepted: string): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (value === '') return 'an empty string';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'number' && /an integer|a number/.test(accepted)) return String(value);
  if (typeof value === 'string' && accepted.includes('characters'))
    return `one of ${value.length} characters`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce(ownValue, input);
}

function unknownKey(key: string, path: readonly PropertyKey[], input: unknown): string {
  const known = keysAt(path, input);
  const meant = nearestWord(key, known) ?? elsewhere(key);
  if (meant !== undefined) return `unknown key, did you mean "${meant}"?`;
  return `unknown key, known here: ${known.join(', ')}`;
}

/** The whole path of a known key that stands in another place than where it was written. */
function elsewhere(key: string): string | undefined {
  return allKeys(configJsonSchema(), [])
    .find((path) => path.at(-1) === key)
    ?.join('.');
}

function allKeys(schema: JsonSchema, path: readonly string[]): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, child]) => [
    [...path, key],
    ...(typeof child === 'object' ? allKeys(child, [...path, key]) : []),
  ]);
}
