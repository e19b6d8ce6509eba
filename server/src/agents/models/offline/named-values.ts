import { isName, type Clause, type Phrase } from './clause.js';
import type { Parameter, TextKind } from './parameters.js';
import { isCapitalized } from './tokens.js';
import { negations, plainWords } from './words.js';
import { findZone } from './time-zones.js';

const DAY_MS = 86_400_000;
const yes: ReadonlySet<string> = new Set(['true', 'yes', 'on']);
const no: ReadonlySet<string> = new Set(['false', 'no', 'off']);
const links: ReadonlySet<string> = new Set([':', '=', 'of', 'is', 'to', 'as', 'named', 'called']);

/** The value that the words of a clause point at, by the parameter's name or by what can only be meant for it. */
export function findNamed(parameter: Parameter, clause: Clause, now: Date): unknown {
  if (parameter.values !== undefined) return findListed(parameter.values, parameter, clause);
  const { type } = parameter;
  if (type === 'boolean') return findBoolean(parameter, clause);
  if (type === 'number' || type === 'integer') return findNumber(parameter, clause);
  return type === 'string' ? findText(parameter, clause, now) : undefined;
}

/** The longest listed value that is mentioned; a required parameter with one value has that. */
function findListed(values: readonly unknown[], { isRequired }: Parameter, clause: Clause): unknown {
  if (isRequired && values.length === 1) return values[0];
  const byLength = values.toSorted((a, b) => String(b).length - String(a).length);
  for (const value of byLength) {
    const phrase = typeof value === 'string' ? mention(value, clause) : numeral(value, clause);
    if (phrase === undefined) continue;
    clause.take(phrase);
    return value;
  }
  return undefined;
}

function mention(value: string, clause: Clause): Phrase | undefined {
  if (value.length === 1) return clause.find(({ text }) => text === value);
  const words = plainWords(value);
  if (words.length === 0) return undefined;
  const first = clause.find((_, index) =>
    words.every((word, offset) => clause.at(index + offset)?.lower === word),
  );
  if (first !== undefined) return { ...first, end: first.end + words.length - 1 };
  return clause.find(({ lower }) => lower === value.toLowerCase());
}

function numeral(value: unknown, clause: Clause): Phrase | undefined {
  return clause.find(({ kind, text }) => kind === 'number' && Number(text) === value);
}

/** True when its name is mentioned, false when it is denied. */
function findBoolean({ stems }: Parameter, clause: Clause): boolean | undefined {
  const found = clause.wordsLike(stems);
  const [first] = found;
  if (first === undefined || found.length < stems.size) return undefined;
  const last = found.at(-1) ?? first;
  const after = [last + 1, last + 2].map((index) => clause.tokens[index]?.lower ?? '');
  if (after.some((word) => no.has(word))) return false;
  if (after.some((word) => yes.has(word))) return true;
  const before = [first - 1, first - 2].map((index) => clause.tokens[index]?.lower ?? '');
  return !before.some((word) => negations.has(word));
}

/** `limit 5`, `limit: 5`, `5 days`. */
function findNumber(parameter: Parameter, clause: Clause): number | undefined {
  for (const index of clause.wordsLike(parameter.stems)) {
    const isPlural = clause.tokens[index]?.lower.endsWith('s') ?? false;
    const next = links.has(clause.at(index + 1)?.lower ?? '') ? index + 2 : index + 1;
    for (const place of isPlural ? [index - 1, next] : [next, index - 1]) {
      const token = clause.at(place);
      if (token?.kind !== 'number' || !isFit(Number(token.text), parameter)) continue;
      return Number(clause.take(clause.single(place)));
    }
  }
  return undefined;
}

/** Whether a parameter may have this number. */
export function isFit(value: number, { type, minimum, maximum }: Parameter): boolean {
  return value >= minimum && value <= maximum && (type !== 'integer' || Number.isInteger(value));
}

function findText(parameter: Parameter, clause: Clause, now: Date): string | undefined {
  const { textKind } = parameter;
  if (textKind === 'zone') return findZone(clause);
  if (textKind === 'date') return findDate(parameter, clause, now);
  const typical = clause.find((token) => token.kind === 'word' && isTypical(textKind, token.text));
  const phrase =
    typical ?? pointedAt(parameter, clause) ?? clause.afterPreposition(usual[textKind], textKind === 'place');
  return phrase && clause.take(phrase);
}

/** Prepositions that say what a text is, in the order in which they are tried. */
const usual: Record<TextKind, readonly string[]> = {
  place: ['in', 'at', 'near', 'for', 'of', 'to'],
  topic: ['for', 'about', 'saying'],
  origin: ['from'],
  target: ['to', 'into'],
  plain: [],
  date: [],
  email: [],
  url: [],
  zone: [],
  path: [],
};

function isTypical(kind: TextKind, text: string): boolean {
  if (kind === 'email') return /^[^@]+@[^@]+\.[^@]+$/u.test(text);
  if (kind === 'url') return /^https?:\/\//u.test(text);
  return kind === 'path' && /\/|\.\w+$/u.test(text);
}

/** `city: Rome`, `city=rome`, `the city of Rome`, `title "x"`. */
function pointedAt({ stems }: Parameter, clause: Clause): Phrase | undefined {
  for (const index of clause.wordsLike(stems)) {
    const link = clause.at(index + 1)?.lower ?? '';
    const start = links.has(link) ? index + 2 : index + 1;
    const token = clause.at(start);
    if (token === undefined) continue;
    if (token.kind === 'quoted') return clause.single(start);
    if (link === ':' || link === '=') {
      if (token.kind !== 'mark' && token.kind !== 'break')
        return isName(token) ? clause.nameFrom(start) : clause.single(start);
    } else if (isCapitalized(token) && isName(token)) {
      return clause.nameFrom(start);
    } else if (token.kind === 'number' || token.kind === 'date') {
      return clause.single(start);
    } else if (links.has(link)) {
      const phrase = clause.phraseFrom(start, true);
      if (phrase !== undefined) return phrase;
    }
  }
  return undefined;
}

/** `2026-10-05`, `today`, `tomorrow`, `yesterday`; days are those of UTC. */
function findDate({ format }: Parameter, clause: Clause, now: Date): string | undefined {
  const written = clause.find(({ kind }) => kind === 'date');
  const relative = written ?? clause.find(({ kind, lower }) => kind === 'word' && days.has(lower));
  if (relative === undefined) return undefined;
  const text = clause.take(relative);
  const offset = days.get(text.toLowerCase());
  const date =
    offset === undefined ? text : new Date(now.getTime() + offset * DAY_MS).toISOString().slice(0, 10);
  if (format === 'date') return date.slice(0, 10);
  return format === 'date-time' && date.length === 10 ? `${date}T00:00:00Z` : date;
}

const days: ReadonlyMap<string, number> = new Map([
  ['yesterday', -1],
  ['today', 0],
  ['tomorrow', 1],
]);
