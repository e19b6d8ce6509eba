import { isJsonObject } from '../../json/json-values.js';
import { MessageText } from '../../json/message-text.js';

/** The places in the JSON text of an object, as a model wrote it; `undefined` when it is no such text. */
export function scanObject(text: string): MessageText | undefined {
  const object = MessageText.scan(text);
  try {
    return isJsonObject(object?.parse()) ? object : undefined;
  } catch {
    return undefined; // no JSON: an error result will say so
  }
}

/** The text of an object with other names for its members, whose values stay as they were written. */
export function withRenamedMembers(text: string, rename: (name: string) => string): string {
  const members = scanObject(text)?.entries();
  if (members === undefined) return text;
  return `{${members.map(([name, value]) => `${JSON.stringify(rename(name))}:${value.text}`).join(',')}}`;
}
