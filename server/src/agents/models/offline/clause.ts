import { isCapitalized, type Token } from './tokens.js';
import { articles, isCommonWord, phraseEnds, prepositions, timeWords } from './words.js';

/** Longest phrase, in words. */
const MAX_PHRASE = 12;

/** Words inside a name of several words: Rio de Janeiro. */
const nameLinks: ReadonlySet<string> = new Set('de da do del di la le of upon am von van'.split(' '));

/** A run of tokens that makes a value. */
export interface Phrase {
  readonly text: string;
  readonly start: number;
  /** The first token after it. */
  readonly end: number;
}

/** A part of an instruction out of which arguments are taken; each token serves one argument only. */
export class Clause {
  /** @param used tokens that serve an argument already; shared by all parts of one instruction */
  constructor(
    readonly tokens: readonly Token[],
    private readonly used: Set<Token>,
  ) {}

  /** The token at a place, unless it is used up. */
  at(index: number): Token | undefined {
    const token = this.tokens[index];
    return token !== undefined && this.used.has(token) ? undefined : token;
  }

  /** The text of a phrase, whose tokens are then used up. */
  take({ text, start, end }: Phrase): string {
    for (const token of this.tokens.slice(start, end)) this.used.add(token);
    return text;
  }

  /** The first unused token that fits, as a phrase. */
  find(fits: (token: Token, index: number) => boolean): Phrase | undefined {
    for (const [index, token] of this.tokens.entries()) {
      if (!this.used.has(token) && fits(token, index)) return this.single(index);
    }
    return undefined;
  }

  single(index: number): Phrase {
    return { text: this.tokens[index]?.text ?? '', start: index, end: index + 1 };
  }

  /** Places of the words, used or not, that have one of these stems. */
  wordsLike(stems: ReadonlySet<string>): number[] {
    const found: number[] = [];
    for (const [index, token] of this.tokens.entries()) {
      if (token.stems.some((stem) => stems.has(stem))) found.push(index);
    }
    return found;
  }

  /** What stands after one of these prepositions, tried in their order. */
  afterPreposition(words: readonly string[], stopsAtAnd: boolean): Phrase | undefined {
    for (const word of words) {
      for (const [index, token] of this.tokens.entries()) {
        const phrase =
          token.kind === 'word' && token.lower === word ? this.phraseFrom(index + 1, stopsAtAnd) : undefined;
        if (phrase !== undefined) return phrase;
      }
    }
    return undefined;
  }

  /** The quoted text, the name or the words that begin here; articles before them are left out. */
  phraseFrom(from: number, stopsAtAnd: boolean): Phrase | undefined {
    let start = from;
    while (articles.has(this.at(start)?.lower ?? '')) start += 1;
    const first = this.at(start);
    if (first?.kind === 'quoted') return this.single(start);
    if (first?.kind !== 'word' || timeWords.has(first.lower) || isPhraseEnd(first)) return undefined;
    if (isCapitalized(first)) return this.nameFrom(start);
    let end = start + 1;
    while (end - start < MAX_PHRASE && this.#continuesPhrase(end, stopsAtAnd)) end += 1;
    return this.#phrase(start, end);
  }

  /** The capitalised words that begin here. */
  nameFrom(start: number): Phrase {
    let end = start + 1;
    for (;;) {
      const next = this.at(end);
      const second = this.at(end + 1);
      if (next !== undefined && isName(next)) end += 1;
      else if (next && nameLinks.has(next.lower) && second !== undefined && isName(second)) end += 2;
      else return this.#phrase(start, end);
    }
  }

  #continuesPhrase(index: number, stopsAtAnd: boolean): boolean {
    const token = this.at(index);
    if (token === undefined || (token.kind !== 'word' && token.kind !== 'number')) return false;
    if (!stopsAtAnd && token.lower === 'and') return true;
    return !timeWords.has(token.lower) && !isPhraseEnd(token);
  }

  #phrase(start: number, end: number): Phrase {
    const text = this.tokens.slice(start, end).map((token) => token.text);
    return { text: text.join(' '), start, end };
  }
}

/** A capitalised word that is no common one. */
export function isName(token: Token): boolean {
  return isCapitalized(token) && !isCommonWord(token.text);
}

function isPhraseEnd({ lower }: Token): boolean {
  return prepositions.has(lower) || phraseEnds.has(lower);
}
