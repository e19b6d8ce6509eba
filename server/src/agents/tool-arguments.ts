import { MAX_JSON_DEPTH, type JsonObject, type JsonValue } from '@remotes-hub/protocol';
import { JsonText } from '../json/json-text.js';
import { isJsonObject, kindOf } from '../json/json-values.js';

/** Arguments that a tool can be called with: the text as the model wrote it, and its value. */
export interface ReadableArguments {
  readonly text: JsonText;
  readonly value: JsonObject;
}

/** Arguments, or a sentence for the model that says why they are none. */
export type ReadArguments = { readonly arguments: ReadableArguments } | { readonly error: string };

/**
 * The one rule for arguments that a model wrote: blank text is `{}`; anything else must be the JSON text of an
 * object and is taken as it is. Nothing is repaired, since a repaired call is one that nobody asked for.
 * @param isCutOff the model stopped at its length limit, so blank text is no decision to give no arguments
 */
export function readArguments(text: string, isCutOff: boolean): ReadArguments {
  if (text.trim() === '') {
    if (isCutOff) return { error: 'the arguments were cut off; the function did not run' };
    return { arguments: { text: new JsonText('{}'), value: {} } };
  }
  const { isOpen, depth } = scanNesting(text);
  const value = parse(text);
  if (value === undefined) {
    const reason = isOpen ? 'the arguments were cut off' : 'the arguments are not valid JSON';
    return { error: `${reason}; the function did not run` };
  }
  if (depth > MAX_JSON_DEPTH) return { error: `the arguments are nested deeper than ${MAX_JSON_DEPTH}` };
  if (!isArguments(value)) return { error: `the arguments must be a JSON object, received ${kindOf(value)}` };
  return { arguments: { text: new JsonText(text), value } };
}

/** JSON.parse makes nothing but JSON values. */
function isArguments(value: unknown): value is { [key: string]: JsonValue } {
  return isJsonObject(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no JSON text has this value
  }
}

/** How deep a text nests, and whether it ends inside a string, an object or an array. */
function scanNesting(text: string): { readonly isOpen: boolean; readonly depth: number } {
  let open = 0;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') depth = Math.max(depth, (open += 1));
    else if (character === '}' || character === ']') open -= 1;
  }
  return { isOpen: inString || open > 0, depth };
}
