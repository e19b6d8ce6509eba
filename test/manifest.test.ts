import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { behaviours } from './manifest.js';
import { headingsOf } from './protocol/markdown.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const ids = new Set(behaviours.map(({ id }) => id));
const prefixes = [...new Set(behaviours.map(({ id }) => id.replace(/[-\d].*$/u, '')))].filter(
  (prefix) => prefix !== 'K',
);

/** An id in a title or in a comment: `// CALL-03`, `test('K017 …')`. */
const idPattern = new RegExp(`\\b(?:(?:${prefixes.join('|')})-\\d\\d|K\\d{3})\\b`, 'gu');

const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => ({ file: file.replaceAll('\\', '/'), text: readFileSync(join(root, 'test', file), 'utf8') }))
  .filter(({ file }) => file !== 'manifest.test.ts');

test('ids are unique and of one form, and no two behaviours say the same', () => {
  expect(behaviours.filter(({ id }) => !/^(?:[A-Z]+-\d\d|K\d{3})$/u.test(id))).toEqual([]);
  expect(ids.size).toBe(behaviours.length);
  expect(new Set(behaviours.map(({ holds }) => holds)).size).toBe(behaviours.length);
});

test('every behaviour is specified where it says', () => {
  const places = [...new Set(behaviours.map(({ where }) => where))];
  expect(places.filter((where) => !isSpecifiedAt(where))).toEqual([]);
});

test('every behaviour is cited by a test', () => {
  const cited = new Set(tests.flatMap(({ text }) => citedIn(text)));
  const uncited = behaviours.filter(({ id }) => !cited.has(id));
  expect(uncited.map(({ id, holds }) => `${id}: ${holds}`)).toEqual([]);
});

test('every id that a test cites is in the manifest', () => {
  const unknown = tests.flatMap(({ file, text }) =>
    citedIn(text).flatMap((id) => (ids.has(id) ? [] : [`${file}: ${id}`])),
  );
  expect(unknown).toEqual([]);
});

test('no test is left out or alone', () => {
  const marks = /\b(?:test|it|describe)\.(?:skip|only|todo)\b/u;
  expect(tests.filter(({ text }) => marks.test(text)).map(({ file }) => file)).toEqual([]);
});

function isSpecifiedAt(where: string): boolean {
  const [file = '', heading = ''] = where.split('#');
  const path = join(root, file);
  return existsSync(path) && headingsOf(readFileSync(path, 'utf8')).includes(heading);
}

function citedIn(text: string): string[] {
  return [...new Set(text.match(idPattern))];
}
