import { isJsonObject } from '../../json/json-values.js';
import { MessageText } from '../../json/message-text.js';

/** The text of an object with other names for its members, whose values stay as they were written. */
export function withRenamedMembers(text: string, rename: (name: string) => string): string {
  if (!isObjectText(text)) return text; // an error result will say so
  const members = MessageText.scan(text)?.entries() ?? [];
  return `{${members.map(([name, value]) => `${JSON.stringify(rename(name))}:${value.text}`).join(',')}}`;
}

function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
