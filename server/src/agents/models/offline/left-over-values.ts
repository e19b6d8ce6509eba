import { isName, type Clause, type Phrase } from './clause.js';
import { isFit } from './named-values.js';
import type { Parameter } from './parameters.js';
import type { Token } from './tokens.js';
import { articles, isCommonWord, prepositions } from './words.js';

/**
 * A value for a parameter that no word points at, out of what other parameters left.
 * @param toolStems words of the tool's name and description, which are no values
 */
export function findLeftOver(parameter: Parameter, clause: Clause, toolStems: ReadonlySet<string>): unknown {
  if (parameter.values !== undefined) return undefined;
  const { type } = parameter;
  if (type === 'number' || type === 'integer') return takeNumber(parameter, clause);
  if (type === 'string') return takeText(parameter, clause, toolStems);
  return type === 'array' ? takeList(parameter, clause, toolStems) : undefined;
}

function takeNumber(parameter: Parameter, clause: Clause): number | undefined {
  const found = clause.find(({ kind, text }) => kind === 'number' && isFit(Number(text), parameter));
  return found && Number(clause.take(found));
}

function takeText(parameter: Parameter, clause: Clause, toolStems: ReadonlySet<string>): string | undefined {
  if (!takesAnyText(parameter)) return undefined;
  const phrase =
    clause.find(({ kind }) => kind === 'quoted') ??
    afterAnyPreposition(clause, parameter.textKind === 'place') ??
    anyName(clause) ??
    objectOf(clause, toolStems) ??
    firstName(clause, toolStems);
  return phrase && clause.take(phrase);
}

/** A text of a certain form is not made out of any word. */
function takesAnyText({ textKind, format }: Parameter): boolean {
  if (format !== '' && textKind !== 'path') return false;
  return textKind !== 'zone' && textKind !== 'date' && textKind !== 'email' && textKind !== 'url';
}

function afterAnyPreposition(clause: Clause, isPlace: boolean): Phrase | undefined {
  for (const [index, { kind, lower }] of clause.tokens.entries()) {
    if (kind !== 'word' || !prepositions.has(lower)) continue;
    const phrase = clause.phraseFrom(index + 1, isPlace);
    if (phrase !== undefined) return phrase;
  }
  return undefined;
}

/** A name that does not begin its sentence. */
function anyName(clause: Clause): Phrase | undefined {
  const found = clause.find((token) => !token.startsSentence && isName(token));
  return found && clause.nameFrom(found.start);
}

/** What stands after the words that chose the tool: `echo hello world`, `delete the file report`. */
function objectOf(clause: Clause, toolStems: ReadonlySet<string>): Phrase | undefined {
  const [verb] = clause.wordsLike(toolStems);
  if (verb === undefined) return undefined;
  let start = verb + 1;
  while (isSkipped(clause, start, toolStems)) start += 1;
  return clause.phraseFrom(start, false);
}

function isSkipped(clause: Clause, index: number, toolStems: ReadonlySet<string>): boolean {
  const token = clause.at(index);
  if (token?.kind !== 'word') return token?.kind === 'mark';
  return articles.has(token.lower) || isToolWord(token, toolStems);
}

function isToolWord({ stems }: Token, toolStems: ReadonlySet<string>): boolean {
  return stems.every((stem) => toolStems.has(stem));
}

/** A name that begins its sentence and is no word of the tool: `Rome weather`. */
function firstName(clause: Clause, toolStems: ReadonlySet<string>): Phrase | undefined {
  return clause.find((token) => isName(token) && !isCommonWord(token.text) && !isToolWord(token, toolStems));
}

/** All numbers, all quoted texts, all names, or the object of the sentence cut at commas and `and`. */
function takeList(
  { items }: Parameter,
  clause: Clause,
  toolStems: ReadonlySet<string>,
): unknown[] | undefined {
  if (items === undefined || items.type === 'number' || items.type === 'integer') {
    const numbers = takeAll(clause, () =>
      clause.find(({ kind, text }) => kind === 'number' && (!items || isFit(Number(text), items))),
    );
    if (numbers.length > 0) return numbers.map(Number);
  }
  if (items !== undefined && items.type !== 'string') return undefined;
  const listed = items?.values;
  if (listed !== undefined) {
    const mentioned = listed.filter((value) =>
      clause.find(({ lower }) => lower === String(value).toLowerCase()),
    );
    return mentioned.length > 0 ? mentioned : undefined;
  }
  const quoted = takeAll(clause, () => clause.find(({ kind }) => kind === 'quoted'));
  if (quoted.length > 0) return quoted;
  const names = takeAll(clause, () => anyName(clause));
  if (names.length > 0) return names;
  const first = takeAll(clause, () => afterAnyPreposition(clause, true) ?? objectOf(clause, toolStems)).slice(
    0,
    1,
  );
  return first.length > 0 ? first : undefined;
}

function takeAll(clause: Clause, find: () => Phrase | undefined): string[] {
  const taken: string[] = [];
  for (let phrase = find(); phrase !== undefined && taken.length < 100; phrase = find())
    taken.push(clause.take(phrase));
  return taken;
}
