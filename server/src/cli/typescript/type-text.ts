/**
 * Pieces of TypeScript made of what strangers wrote: names, texts and descriptions. Whatever they hold, each piece
 * stays the one thing that it is, and shows what it holds.
 */

/** Longest name that is made of a stranger's text. */
const MAX_NAME_LENGTH = 64;

/** Breaks of lines, for the compiler or for an editor. */
const lineBreak = /\r\n|[\n\r\v\f\x85\u2028\u2029]/u;

/** A string literal. Invisible characters, and those that turn the direction of text, are escaped. */
export function stringLiteral(text: string): string {
  return JSON.stringify(text).replace(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    [...Array(character.length).keys()].map((at) => unicodeEscape(character.charCodeAt(at))).join(''),
  );
}

function unicodeEscape(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

/** The name of a property or a method: bare where it can be. */
export function memberName(name: string): string {
  // A method `new` would be a constructor.
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'new' ? name : stringLiteral(name);
}

/** The name of a type, made of the letters and digits of a text: `weather-service` is `WeatherService`. */
export function typeName(text: string, fallback: string): string {
  const words = text.slice(0, MAX_NAME_LENGTH).match(/[A-Za-z0-9]+/g) ?? [];
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Z]/.test(name) ? name : fallback + name;
}

/** A doc comment of its own lines, with a line break at its end; nothing for an empty text. */
export function docComment(text: string, indent: string): string {
  const lines = text.split(lineBreak).map(commentLine);
  while (lines.at(-1) === '') lines.pop();
  while (lines[0] === '') lines.shift();
  const [only] = lines;
  if (only === undefined) return '';
  if (lines.length === 1) return `${indent}/** ${only} */\n`;
  const body = lines.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}\n`);
  return `${indent}/**\n${body.join('')}${indent} */\n`;
}

/** One line of a comment: it cannot end the comment, nor be a tag or a directive such as `@ts-ignore`. */
function commentLine(line: string): string {
  return line
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, ' ')
    .replaceAll('*/', '*\\/')
    .replace(/(?<![\p{L}\p{N}.])@/gu, '\\@')
    .trim();
}
