import { plainWords, stem } from './words.js';

/** Most of an instruction that is read, in characters. */
const MAX_READ_CHARACTERS = 10_000;

/** A piece of an instruction. A `break` ends a sentence; a `mark` is any other sign. */
export interface Token {
  readonly kind: 'word' | 'quoted' | 'number' | 'date' | 'mark' | 'break';
  /** As it was written; without quotes, and without a possessive `'s`. */
  readonly text: string;
  readonly lower: string;
  /** Stems of the words in it; empty but for words. */
  readonly stems: readonly string[];
  /** First word of a sentence: its capital says nothing. */
  readonly startsSentence: boolean;
}

// Each alternative is linear: repeated parts begin with a sign that the part before cannot hold.
const pattern = new RegExp(
  [
    String.raw`(?<quoted>"[^"\n]*"|“[^“”\n]*”|«[^«»\n]*»|\x60[^\x60\n]*\x60|(?<![\p{L}\p{N}])'[^'\n]+'(?![\p{L}\p{N}]))`,
    String.raw`(?<date>\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?)(?![\p{L}\p{N}_-])`,
    String.raw`(?<number>[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?![\p{L}\p{N}_]|[.:/-]\d)`,
    String.raw`(?<word>https?:\/\/[^\s"'<>]*[^\s"'<>.,;:!?)]|\d{1,2}:\d{2}(?::\d{2})?|[~.]{0,2}\/?[\p{L}\p{M}\p{N}_]+(?:[-./'’@#+&][\p{L}\p{M}\p{N}_]+)*)`,
    String.raw`(?<break>[.?!;\n]+)`,
    String.raw`(?<mark>[^\s])`,
  ].join('|'),
  'gu',
);

/** Reads an instruction into tokens; only its first 10 000 characters count. */
export function tokenize(instruction: string): Token[] {
  const tokens: Token[] = [];
  let startsSentence = true;
  for (const { groups = {} } of instruction.slice(0, MAX_READ_CHARACTERS).matchAll(pattern)) {
    const token = makeToken(groups, startsSentence);
    tokens.push(token);
    if (token.kind === 'break') startsSentence = true;
    else if (token.kind !== 'mark') startsSentence = false;
  }
  return tokens;
}

function makeToken(groups: Partial<Record<string, string>>, startsSentence: boolean): Token {
  const make = (kind: Token['kind'], text: string): Token => ({
    kind,
    text,
    lower: text.toLowerCase(),
    stems: kind === 'word' ? plainWords(text).map(stem) : [],
    startsSentence,
  });
  const { quoted, date, number, word } = groups;
  if (quoted !== undefined) return make('quoted', quoted.slice(1, -1));
  if (date !== undefined) return make('date', date);
  if (number !== undefined) return make('number', number.replaceAll(',', ''));
  if (word !== undefined) return make('word', word.replace(/['’]s$/u, ''));
  if (groups['break'] !== undefined) return make('break', groups['break']);
  return make('mark', groups['mark'] ?? '');
}

/** Whether a token is a word with a capital. */
export function isCapitalized(token: Token): boolean {
  return token.kind === 'word' && /^\p{Lu}/u.test(token.text);
}

/** Words that begin another wish. */
const joints: ReadonlySet<string> = new Set(['and', 'then', 'also', 'plus']);

/** Cuts an instruction at the ends of its sentences and at `and`, `then`, `also`; what ends a part stays in it. */
export function splitClauses(tokens: readonly Token[]): Token[][] {
  const clauses: Token[][] = [];
  let current: Token[] = [];
  for (const token of tokens) {
    if (token.kind === 'word' && joints.has(token.lower) && current.length > 0) {
      clauses.push(current);
      current = [];
    }
    current.push(token);
    if (token.kind === 'break') {
      clauses.push(current);
      current = [];
    }
  }
  if (current.length > 0) clauses.push(current);
  return clauses;
}
