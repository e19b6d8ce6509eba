import type { SchemaLimits } from './limits.js';
import { quoted } from './messages.js';
import { unreadPatternCost } from './pattern-cost.js';
import { MeteredPattern } from './pattern-engine.js';
import { translatePattern } from './pattern-syntax.js';
import { SchemaError } from './schema-error.js';

// What any pattern costs beside its instructions.
const baseCost = 30;

/** The regular expressions of one schema: compiled once each, bounded together. */
export class Patterns {
  /** JSON Pointers of the patterns that are valid ECMAScript, but need an engine that can hang. */
  readonly unenforced: string[] = [];
  readonly #known = new Map<string, MeteredPattern | undefined>();
  #costLeft: number;

  constructor(private readonly limits: SchemaLimits) {
    this.#costLeft = limits.maxPatternCost;
  }

  /**
   * The compiled pattern, or undefined when it is one that is not enforced.
   * @throws {SchemaError} when it is no regular expression, or costs too much
   */
  compile(pattern: string, path: string): MeteredPattern | undefined {
    if (!this.#known.has(pattern)) this.#known.set(pattern, this.#compile(pattern, path));
    const compiled = this.#known.get(pattern);
    if (compiled === undefined) this.unenforced.push(path);
    return compiled;
  }

  #compile(pattern: string, path: string): MeteredPattern | undefined {
    const { maxPatternLength } = this.limits;
    if (pattern.length > maxPatternLength) {
      throw new SchemaError(path, `the regular expression is longer than ${maxPatternLength} characters`);
    }
    const isEcmaScript = isValid(pattern, 'u') || isValid(pattern, '');
    if (!isEcmaScript) return this.#compileForeign(pattern, path);
    const translated = translatePattern(pattern);
    if (translated === undefined) {
      this.#pay(0, path);
      return undefined;
    }
    this.#pay(translated.cost, path);
    return engineFor(translated.source);
  }

  /** A pattern that only RE2 knows, such as `(?i)abc`. */
  #compileForeign(pattern: string, path: string): MeteredPattern {
    this.#pay(unreadPatternCost(pattern), path);
    const engine = engineFor(pattern);
    if (engine === undefined) throw new SchemaError(path, `not a regular expression: ${quoted(pattern)}`);
    return engine;
  }

  #pay(cost: number, path: string): void {
    this.#costLeft -= cost + baseCost;
    if (this.#costLeft < 0)
      throw new SchemaError(path, 'the regular expressions of the schema are too complex');
  }
}

function engineFor(source: string): MeteredPattern | undefined {
  try {
    return new MeteredPattern(source);
  } catch {
    return undefined; // unknown syntax, an unknown property, a repeat over 1000
  }
}

/** Only parses: the pattern never runs on the native engine. */
function isValid(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}
