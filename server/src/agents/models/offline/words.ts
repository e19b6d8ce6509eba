const list = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Words that say nothing about what is wanted. */
const grammarWords = list(
  "a an the this that these those some any all it its i i'm me my mine we our us you your he she they them is are was were be been am do does did don't can could will would should shall may might must not no yes please now what which who whom whose when where why how much many there here and or but then also plus if so than too very just in for of to from at on about with without near into by as like named called titled thanks hello hi use using tool tools tell give let want need would know given value result optional such based one",
);

/** Verbs that fit every tool. */
export const genericVerbs = list(
  'get retrieve fetch return returns show list find look set make do run call execute',
);

/** Verbs that tell tools apart a little, so that a name alone may match by them. */
const weakVerbs = list(
  'search add create read write open close send update edit change delete remove check compute calculate convert count start stop',
);

/** Words after which the object of a sentence stands. */
export const prepositions = list(
  'in for of to from at on about with near into by named called titled saying as',
);

/** Words that may stand between a word and what it is about. */
export const articles = list('the a an my your our this that these those some any all');

/** Words for a time, which name no place and no thing. */
export const timeWords = list(
  'today tomorrow yesterday now tonight morning afternoon evening week month year',
);

/** Words that end a phrase. */
export const phraseEnds = list('is are was were will and or but then also plus please if when using without');

export const negations = list("no not without don't never exclude excluding except false off disable");

const isStopWord = (word: string): boolean => grammarWords.has(word) || genericVerbs.has(word);

/** Whether a word may start a sentence without being a name: `What`, `Use`, `Search`. */
export function isCommonWord(word: string): boolean {
  const lower = word.toLowerCase();
  return isStopWord(lower) || weakVerbs.has(lower) || timeWords.has(lower);
}

/** Whether a stem is that of a verb which says little on its own. */
export function isWeak(stemmed: string): boolean {
  return weakStems.has(stemmed);
}

/** The parts of a name or a text: split at everything but letters and digits, and inside camelCase; lower case. */
export function plainWords(text: string): string[] {
  const spaced = text
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2');
  return (spaced.match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? []).map((word) => word.toLowerCase());
}

/** The stems of the words of a text that say something. */
export function contentStems(text: string): Set<string> {
  return new Set(
    plainWords(text)
      .filter((word) => !isStopWord(word))
      .map(stem),
  );
}

/** A word without the endings of English grammar, roughly: it only has to be the same for words of one kind. */
export function stem(word: string): string {
  const base = withoutEnding(word.toLowerCase());
  const single = /([^aeiou\d])\1$/u.test(base) ? base.slice(0, -1) : base;
  return single.length > 3 && single.endsWith('e') ? single.slice(0, -1) : single;
}

function withoutEnding(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 5 && word.endsWith('ing')) return word.slice(0, -3);
  if (word.length > 4 && word.endsWith('ed')) return word.slice(0, -2);
  if (word.length > 4 && word.endsWith('es')) return word.slice(0, -1);
  if (word.length > 3 && word.endsWith('s') && !word.endsWith('ss')) return word.slice(0, -1);
  return word;
}

const weakStems: ReadonlySet<string> = new Set([...weakVerbs].map(stem));
