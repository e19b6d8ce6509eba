/** One character of a class: itself, or escaped in a way that all engines know; doubled, some are set operators. */
const CLASS_CHARACTER = String.raw`(?:(?!&&|~~|\|\|)[^\\\[\]-]|\\(?:[nrtfv0]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^a-zA-Z0-9]))`;

/** A class; a hyphen that means itself stands first or last, since engines differ about any other. */
const CLASS = String.raw`\[(?!\^?\])\^?-?(?:${CLASS_CHARACTER}(?:-${CLASS_CHARACTER})?|\\[dDwWsS])*-?\]`;

const PORTABLE = new RegExp(
  `^(?:${[
    String.raw`[^\\[\](){}*+?]`,
    String.raw`\\(?:[dDwWsSbBnrtfv0]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^a-zA-Z0-9])`,
    CLASS,
    String.raw`\((?:\?:|(?!\?))`,
    String.raw`\)`,
    String.raw`[*+?]\??`,
    String.raw`\{\d{1,4}(?:,\d{0,4})?\}\??`,
  ].join('|')})*$`,
);

/**
 * Whether providers take a regular expression: OpenAI compiles every `pattern` of a tool with Python's `re`, and some
 * of its models refuse lookaround. So only what all engines read alike is portable: no lookaround, references,
 * Unicode properties, named groups or flags.
 */
export function isPortablePattern(pattern: string): boolean {
  return PORTABLE.test(pattern) && isEcmaScript(pattern);
}

function isEcmaScript(pattern: string): boolean {
  try {
    // oxlint-disable-next-line no-new -- it is only asked whether it compiles, and never run
    return new RegExp(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}
