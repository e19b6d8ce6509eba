/** A JSON block of the specification. */
export interface Example {
  /** What it says it is, such as `session: remote-call`; empty when it says nothing. */
  readonly kind: string;
  /** Where its text begins, counted from 1. */
  readonly line: number;
  readonly text: string;
}

const FENCE = '```';

/** The JSON blocks of a page with the comments that stand before them. */
export function examplesOf(markdown: string): Example[] {
  const lines = markdown.split('\n');
  return lines.flatMap((line, index) => {
    if (line !== `${FENCE}json`) return [];
    const end = lines.indexOf(FENCE, index + 1);
    const before = lines.slice(0, index).findLast((earlier) => earlier !== '') ?? '';
    const kind = /^<!-- (.*) -->$/u.exec(before)?.[1] ?? '';
    return [{ kind, line: index + 2, text: lines.slice(index + 1, end).join('\n') }];
  });
}

/** The headings of a page, in order, without marks; those inside code blocks are none. */
export function headingsOf(markdown: string): string[] {
  let isCode = false;
  return markdown.split('\n').flatMap((line) => {
    if (line.startsWith(FENCE)) isCode = !isCode;
    const heading = isCode ? undefined : /^#{1,6} (.*)$/u.exec(line)?.[1];
    return heading === undefined ? [] : [withoutTicks(heading)];
  });
}

/** The anchor of a heading, as code hosts make it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** The rows of the tables between a heading and the next of any level, as cells; without their head rows. */
export function tablesUnder(markdown: string, heading: string): string[][][] {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => line.startsWith('#') && headingsOf(line)[0] === heading);
  const end = lines.findIndex((line, index) => index > start && /^#{1,6} /u.test(line));
  const tables: string[][][] = [];
  for (const [index, line] of lines.slice(start + 1, end === -1 ? undefined : end).entries()) {
    if (!line.startsWith('|')) continue;
    if (!lines[start + index]?.startsWith('|')) tables.push([]);
    tables.at(-1)?.push(cellsOf(line));
  }
  return tables.map((rows) => rows.slice(2));
}

function cellsOf(row: string): string[] {
  return row
    .split(/(?<!\\)\|/u)
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** A cell or a heading without the marks of code. */
export function withoutTicks(text: string): string {
  return text.replaceAll('`', '');
}
