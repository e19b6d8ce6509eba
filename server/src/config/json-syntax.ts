/** Where a text stops being JSON, and what was expected there. */
export interface SyntaxProblem {
  /** Both count from 1; columns are UTF-16 code units. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/**
 * Finds the first place where a text is not JSON. The engine's own messages quote the text, which may hold
 * secrets, and often give no place. `undefined` when nothing is wrong.
 */
export function findSyntaxProblem(text: string): SyntaxProblem | undefined {
  const scanner = new SyntaxScanner(text);
  const message = scanner.document();
  if (message === undefined) return undefined;
  const before = text.slice(0, scanner.at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: scanner.at - lineStart + 1, message };
}

/** Deepest nesting that is looked into. */
const MAX_DEPTH = 200;

/** Every method moves `at` over what it names and returns what is wrong at `at`, or nothing. */
class SyntaxScanner {
  at = 0;
  readonly #space = /[ \t\r\n]*/y;
  readonly #stringStart = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
  readonly #scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/y;

  constructor(private readonly text: string) {}

  document(): string | undefined {
    this.#skip(this.#space);
    const problem = this.#value(1);
    if (problem !== undefined) return problem;
    this.#skip(this.#space);
    return this.at < this.text.length ? this.#expected('nothing after the value') : undefined;
  }

  #value(depth: number): string | undefined {
    if (depth > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH}`;
    const first = this.text[this.at];
    if (first === '{') return this.#list('}', () => this.#member(depth));
    if (first === '[') return this.#list(']', () => this.#value(depth + 1));
    if (first === '"') return this.#string();
    return this.#skip(this.#scalar) ? undefined : this.#expected('a value');
  }

  /** From an opening bracket to after its `close`. */
  #list(close: string, item: () => string | undefined): string | undefined {
    this.at += 1;
    this.#skip(this.#space);
    if (this.#take(close)) return undefined;
    for (;;) {
      const problem = item();
      if (problem !== undefined) return problem;
      this.#skip(this.#space);
      if (this.#take(close)) return undefined;
      if (!this.#take(',')) return this.#expected(`"," or "${close}"`);
      this.#skip(this.#space);
      if (this.text[this.at] === close) return `no comma may stand before "${close}"`;
    }
  }

  #member(depth: number): string | undefined {
    if (this.text[this.at] !== '"') return this.#expected('a name in double quotes');
    const problem = this.#string();
    if (problem !== undefined) return problem;
    this.#skip(this.#space);
    if (!this.#take(':')) return this.#expected('":"');
    this.#skip(this.#space);
    return this.#value(depth + 1);
  }

  #string(): string | undefined {
    this.#skip(this.#stringStart);
    if (this.#take('"')) return undefined;
    const next = this.text[this.at];
    if (next === '\\') return 'unknown escape in a string';
    return next === undefined || next === '\n' || next === '\r'
      ? 'the string is not closed'
      : 'a control character in a string';
  }

  #expected(what: string): string {
    const next = this.text.slice(this.at, this.at + 2);
    if (next === '') return `expected ${what}, but the text ends here`;
    return next === '//' || next === '/*' ? 'JSON has no comments' : `expected ${what}`;
  }

  #take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found !== null) this.at += found[0].length;
    return found !== null;
  }
}
