/**
 * A type as text, and how many members it has as a union: `true | false` is 2. The compiler multiplies them in an
 * intersection and refuses more than 100 000, so that it takes a hostile schema or an odd one to get there.
 */
export interface TypeExpression {
  readonly text: string;
  readonly form: 'simple' | 'union' | 'intersection';
  /** `Infinity` when nobody knows yet. */
  readonly width: number;
}

const MAX_WIDTH = 10_000;

export const unknownType: TypeExpression = simpleType('unknown');
export const neverType: TypeExpression = simpleType('never');

/** A type that is one word, one literal, or in brackets. */
export function simpleType(text: string, width = 1): TypeExpression {
  return { text, form: 'simple', width };
}

/** Any of the types. */
export function unionOf(types: readonly TypeExpression[]): TypeExpression {
  const parts = distinct(types.filter(({ text }) => text !== 'never'));
  const [first, second] = parts;
  if (first === undefined) return neverType;
  if (second === undefined) return first;
  const known = parts.filter(({ width }) => width !== Infinity);
  const isTooWide = sumOf(known) > MAX_WIDTH;
  if (isTooWide || parts.some(({ text }) => text === 'unknown')) return unknownType;
  return { text: parts.map(({ text }) => text).join(' | '), form: 'union', width: sumOf(parts) };
}

/** All of the types at once; those that would be too much for the compiler are left out. */
export function intersectionOf(types: readonly TypeExpression[]): TypeExpression {
  if (types.some(({ text }) => text === 'never')) return neverType;
  const [first, ...others] = distinct(types.filter(({ text }) => text !== 'unknown'));
  if (first === undefined) return unknownType;
  const parts = [first];
  let { width } = first;
  for (const part of others) {
    if (width > 1 && part.width > 1 && width * part.width > MAX_WIDTH) continue;
    parts.push(part);
    width *= part.width;
  }
  if (parts.length === 1) return first;
  const texts = parts.map((part) => (part.form === 'union' ? `(${part.text})` : part.text));
  return { text: texts.join(' & '), form: 'intersection', width };
}

/** A type where a suffix such as `[]` or `?` follows. */
export function bracketed({ text, form }: TypeExpression): string {
  return form === 'simple' ? text : `(${text})`;
}

function distinct(types: readonly TypeExpression[]): readonly TypeExpression[] {
  return [...new Map(types.map((type) => [type.text, type])).values()];
}

function sumOf(types: readonly TypeExpression[]): number {
  return types.reduce((sum, { width }) => sum + width, 0);
}
