import { anyCharacter, noCharacter, notLineEnd, propertyClass, shorthandClass } from './pattern-classes.js';
import { PatternCost } from './pattern-cost.js';

/** A pattern in RE2's syntax that matches what the ECMAScript pattern matches. */
export interface TranslatedPattern {
  readonly source: string;
  /** The size of its compiled program, never less than the truth. */
  readonly cost: number;
}

/**
 * Translates a pattern that is known to be valid ECMAScript, with Unicode semantics. A pattern that is
 * valid only without the `u` flag is read leniently: `\-`, `{` and the like stand for themselves.
 * Undefined when it uses what no linear-time engine can do: lookaround and back-references.
 */
export function translatePattern(pattern: string): TranslatedPattern | undefined {
  const translator = new Translator(pattern);
  return translator.translate() ? { source: translator.source, cost: translator.cost.total() } : undefined;
}

const controls: ReadonlyMap<string, number> = new Map([
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
]);

class Translator {
  source = '';
  readonly cost = new PatternCost();
  #position = 0;

  constructor(private readonly pattern: string) {}

  translate(): boolean {
    while (this.#position < this.pattern.length) {
      if (!this.#term()) return false;
    }
    return true;
  }

  #term(): boolean {
    const quantifier = this.#match(/\{(\d+)(,?)(\d*)\}\??|[*+?]\??/y);
    if (quantifier !== undefined) {
      this.#emit(quantifier[0]);
      this.cost.quantify(quantifier[1], quantifier[2] === ',', quantifier[3]);
      return true;
    }
    const character = this.#next();
    switch (character) {
      case '(':
        return this.#group();
      case ')':
        this.cost.close();
        return this.#emit(')');
      case '|':
        this.cost.alternative();
        return this.#emit('|');
      case '^':
      case '$':
        this.cost.atom(1);
        return this.#emit(character);
      case '.':
        return this.#atom(notLineEnd);
      case '[':
        return this.#characterClass();
      case '\\':
        return this.#escape();
      default:
        return this.#atom(literal(character));
    }
  }

  // Groups need not capture: only whether there is a match is asked.
  #group(): boolean {
    if (this.#match(/\?(?:[=!]|<[=!])/y) !== undefined) return false;
    this.#match(/\?:|\?<[^>]*>/y);
    this.cost.open();
    return this.#emit('(?:');
  }

  #escape(): boolean {
    if (this.#match(/[1-9]|k</y) !== undefined) return false;
    const assertion = this.#match(/[bB]/y);
    if (assertion !== undefined) {
      this.cost.atom(1);
      return this.#emit(`\\${assertion[0]}`);
    }
    const property = this.#property();
    if (property !== undefined) return this.#atom(property, true);
    const shorthand = shorthandClass(this.pattern.charAt(this.#position));
    if (shorthand === undefined) return this.#atom(literal(this.#escapedCharacter()));
    this.#position += 1;
    return this.#atom(`[${shorthand}]`);
  }

  #property(): string | undefined {
    const property = this.#match(/([pP])\{([\w=]+)\}/y);
    return property === undefined ? undefined : propertyClass(property[2] ?? '', property[1] === 'P');
  }

  /** One character after a backslash, inside or outside a class. */
  #escapedCharacter(): string {
    const code =
      this.#match(/u\{([0-9a-fA-F]+)\}/y) ??
      this.#match(/u([0-9a-fA-F]{4})/y) ??
      this.#match(/x([0-9a-fA-F]{2})/y);
    if (code !== undefined) return this.#joinedSurrogate(Number.parseInt(code[1] ?? '', 16));
    const control = this.#match(/c([a-zA-Z])/y);
    if (control !== undefined) return String.fromCharCode((control[1] ?? '').charCodeAt(0) % 32);
    if (this.pattern.startsWith('c', this.#position)) return '\\'; // a lone \c stands for a backslash
    const octal = this.#match(/[0-3][0-7]{0,2}|[4-7][0-7]?/y);
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal[0], 8));
    const character = this.#next();
    const known = controls.get(character);
    return known === undefined ? character : String.fromCharCode(known);
  }

  /** `\ud83d\ude00` is one character. */
  #joinedSurrogate(code: number): string {
    if (code < 0xd800 || code > 0xdbff) return String.fromCodePoint(code);
    const low = this.#match(/\\u([dD][c-fC-F][0-9a-fA-F]{2})/y);
    return (
      String.fromCharCode(code) +
      (low === undefined ? '' : String.fromCharCode(Number.parseInt(low[1] ?? '', 16)))
    );
  }

  #characterClass(): boolean {
    const negated = this.#match(/\^/y) !== undefined;
    let content = '';
    let properties = 0;
    while (this.#match(/\]/y) === undefined) {
      const first = this.#classMember();
      if (first.isProperty) properties += 1;
      if (first.character === undefined || this.#match(/-(?!\])/y) === undefined) {
        content += first.source;
        continue;
      }
      const last = this.#classMember();
      if (last.isProperty) properties += 1;
      content +=
        last.character === undefined
          ? `${first.source}${literal('-')}${last.source}`
          : `${first.source}-${last.source}`;
    }
    if (content === '') return this.#atom(negated ? anyCharacter : noCharacter);
    this.cost.atom(1, properties);
    return this.#emit(`[${negated ? '^' : ''}${content}]`);
  }

  #classMember(): { source: string; character?: string; isProperty?: boolean } {
    if (this.#match(/\\/y) === undefined) {
      const character = this.#next();
      return { source: literal(character), character };
    }
    const property = this.#property();
    if (property !== undefined) return { source: property, isProperty: true };
    const shorthand = shorthandClass(this.pattern.charAt(this.#position));
    if (shorthand !== undefined) {
      this.#position += 1;
      return { source: shorthand };
    }
    const character = this.#match(/b/y) === undefined ? this.#escapedCharacter() : '\b';
    return { source: literal(character), character };
  }

  #atom(source: string, isProperty = false): true {
    this.cost.atom(1, isProperty ? 1 : 0);
    return this.#emit(source);
  }

  #emit(source: string): true {
    this.source += source;
    return true;
  }

  #next(): string {
    const code = this.pattern.codePointAt(this.#position) ?? 0;
    const character = String.fromCodePoint(code);
    this.#position += character.length;
    return character;
  }

  /** Matches one of our own fixed expressions at the position and moves behind it. */
  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#position;
    const match = expression.exec(this.pattern) ?? undefined;
    if (match !== undefined) this.#position += match[0].length;
    return match;
  }
}

function literal(character: string): string {
  if (/^[0-9A-Za-z]$/.test(character)) return character;
  return `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
