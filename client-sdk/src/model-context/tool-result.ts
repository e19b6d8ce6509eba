import type { JsonObject, JsonValue } from '@remotes-hub/protocol';
import { isJsonObject, parseJson } from '../json-values.js';

/**
 * The result of a call, out of what a tool gave (README.md, "Tools of the page"):
 * a text that is JSON is that value, else the text itself; an MCP result, an object with a list `content`, is taken
 * apart: with `isError` it is an error of its texts, else it is its `structuredContent`, else its texts when it has
 * nothing but texts, else itself.
 *
 * @throws {Error} the tool says that it failed
 */
export function toolResult(text: string | null | undefined): JsonValue {
  const value = readText(text);
  if (!isJsonObject(value) || !isContent(value['content'])) return value;
  const { content, structuredContent, isError } = value;
  const texts = content.flatMap((item) => (typeof item['text'] === 'string' ? [item['text']] : []));
  if (isError === true) throw new Error(texts.join('\n'));
  if (structuredContent !== undefined) return structuredContent;
  return texts.length === content.length ? texts.join('\n') : value;
}

function readText(text: string | null | undefined): JsonValue {
  if (text === null || text === undefined || text === 'undefined') return null; // Chrome gives "undefined"
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function isContent(value: JsonValue | undefined): value is JsonObject[] {
  return (
    Array.isArray(value) && value.every((item) => isJsonObject(item) && typeof item['type'] === 'string')
  );
}
