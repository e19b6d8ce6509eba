/** The character classes of ECMAScript as the inside of a bracketed class of RE2. */
const blanks =
  '\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const notBlanks =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}' +
  '\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';

const shorthands: ReadonlyMap<string, string> = new Map([
  ['d', '0-9'],
  ['D', '\\x{0}-\\x{2f}\\x{3a}-\\x{10ffff}'],
  ['w', '0-9A-Za-z_'],
  ['W', '\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{5e}\\x{60}\\x{7b}-\\x{10ffff}'],
  ['s', blanks],
  ['S', notBlanks],
]);

/** Everything, and everything but line ends (what `.` matches). */
export const anyCharacter = '[\\x{0}-\\x{10ffff}]';
export const noCharacter = '[^\\x{0}-\\x{10ffff}]';
export const notLineEnd = '[^\\x{a}\\x{d}\\x{2028}\\x{2029}]';

/** The inside of the class that `\d`, `\W`, … stand for. */
export function shorthandClass(letter: string): string | undefined {
  return shorthands.get(letter);
}

// Long names and aliases of the general categories; the short ones are RE2's own.
const categoryNames: ReadonlyMap<string, string> = new Map(
  [
    'L Letter',
    'LC Cased_Letter',
    'Lu Uppercase_Letter',
    'Ll Lowercase_Letter',
    'Lt Titlecase_Letter',
    'Lm Modifier_Letter',
    'Lo Other_Letter',
    'M Mark Combining_Mark',
    'Mn Nonspacing_Mark',
    'Mc Spacing_Mark',
    'Me Enclosing_Mark',
    'N Number',
    'Nd Decimal_Number digit',
    'Nl Letter_Number',
    'No Other_Number',
    'P Punctuation punct',
    'Pc Connector_Punctuation',
    'Pd Dash_Punctuation',
    'Ps Open_Punctuation',
    'Pe Close_Punctuation',
    'Pi Initial_Punctuation',
    'Pf Final_Punctuation',
    'Po Other_Punctuation',
    'S Symbol',
    'Sm Math_Symbol',
    'Sc Currency_Symbol',
    'Sk Modifier_Symbol',
    'So Other_Symbol',
    'Z Separator',
    'Zs Space_Separator',
    'Zl Line_Separator',
    'Zp Paragraph_Separator',
    'C Other',
    'Cc Control cntrl',
    'Cf Format',
    'Cs Surrogate',
    'Co Private_Use',
    'Cn Unassigned',
  ].flatMap((line) => {
    const [short = '', ...names] = line.split(' ');
    return names.map((name) => [name, short] as const);
  }),
);

/**
 * A property class, `\p{…}` or `\P{…}`, usable inside and outside brackets. A property that RE2
 * does not know makes the compilation there fail.
 */
export function propertyClass(name: string, negated: boolean): string {
  const letter = negated ? 'P' : 'p';
  const [, value = name] = /^(?:General_Category|gc|Script|sc)=(.*)$/.exec(name) ?? [];
  if (value === 'ASCII') return `\\${letter}{Ascii}`;
  return `\\${letter}{${categoryNames.get(value) ?? value}}`;
}
