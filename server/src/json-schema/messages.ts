const maxNameLength = 64;
const maxListLength = 200;

/** A name or a text of the schema in a message: quoted, escaped, at most some 64 characters. */
export function quoted(name: string): string {
  return JSON.stringify(name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength)}…`);
}

/** `a`, `a or b`, `a, b or c`. */
export function eitherOf(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}

/** A list of texts of the schema, cut when it is longer than some 200 characters. */
export function boundedList(texts: Iterable<string>): string {
  let list = '';
  for (const text of texts) {
    const short = text.length <= maxNameLength ? text : `${text.slice(0, maxNameLength)}…`;
    if (list.length + short.length > maxListLength) return `${list}, …`;
    list = list === '' ? short : `${list}, ${short}`;
  }
  return list;
}

/** `1 item`, `2 items`. */
export function counted(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${count} ${noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;
}
