import { canonicalKey, numberKey } from '../canonical.js';
import { isJsonArray } from '../../json/json-values.js';
import type { Marks } from '../marks.js';
import { counted } from '../messages.js';
import type { SchemaNode } from '../node.js';
import { evaluate } from '../node.js';
import type { Run } from '../run.js';
import type { Site } from '../site.js';

/** `minItems`, `maxItems`, `uniqueItems`, `prefixItems`, `items`, `additionalItems` and `contains`. */
export function compileArrayKeywords(site: Site, node: SchemaNode): void {
  compileCounts(site, node);
  compileItems(site, node);
  compileContains(site, node);
  if (site.boolean('uniqueItems') === true) node.addForArrays(areUnique);
}

function compileCounts(site: Site, node: SchemaNode): void {
  const least = site.count('minItems');
  if (least !== undefined) {
    const describe = (): string => `expected at least ${counted(least, 'item')}`;
    node.addForArrays((value, run) => value.length >= least || run.fail('minItems', describe, value));
  }
  const most = site.count('maxItems');
  if (most !== undefined) {
    const describe = (): string => `expected at most ${counted(most, 'item')}`;
    node.addForArrays((value, run) => value.length <= most || run.fail('maxItems', describe, value));
  }
}

/** `items` as an array is draft-07's spelling of `prefixItems`, and understood in both dialects. */
function compileItems(site: Site, node: SchemaNode): void {
  const listed = isJsonArray(site.value('items'));
  const prefix = (site.dialect === '2020-12' ? site.schemas('prefixItems') : undefined) ?? [];
  const starts = listed ? itemList(site) : prefix;
  const rest = site.schemaAt(listed ? 'additionalItems' : 'items');
  if (!listed && site.has('additionalItems')) site.schemaAt('additionalItems'); // has no effect, but must be a schema
  if (starts.length === 0 && rest === undefined) return;
  node.addForArrays((value, run, marks) => {
    const startCount = Math.min(starts.length, value.length);
    for (let index = 0; index < startCount; index += 1) {
      if (!itemFits(starts[index], value, index, run)) return false;
    }
    marks?.addItems(startCount);
    if (rest === undefined) return true;
    for (let index = startCount; index < value.length; index += 1) {
      if (!itemFits(rest, value, index, run)) return false;
    }
    if (marks !== undefined) marks.allItems = true;
    return true;
  });
}

// Unlike prefixItems, it may be empty.
function itemList(site: Site): readonly SchemaNode[] {
  return (site.list('items') ?? []).map((schema, index) => site.compile(schema, ['items', index]));
}

function itemFits(node: SchemaNode | undefined, value: readonly unknown[], index: number, run: Run): boolean {
  if (node === undefined) return true;
  run.down(index);
  if (!evaluate(node, value[index], run, undefined)) return false;
  run.up();
  return true;
}

function compileContains(site: Site, node: SchemaNode): void {
  const wanted = site.schemaAt('contains');
  const isNew = site.dialect === '2020-12';
  const least = (isNew ? site.count('minContains') : undefined) ?? 1;
  const most = (isNew ? site.count('maxContains') : undefined) ?? Infinity;
  if (wanted === undefined) return;
  const leastKeyword = isNew && site.has('minContains') ? 'minContains' : 'contains';
  const tooFew = (): string => `expected at least ${counted(least, 'item')} that fit "contains"`;
  const tooMany = (): string => `expected at most ${counted(most, 'item')} that fit "contains"`;
  node.addForArrays((value, run, marks) => {
    const { sure, possible } = countFitting(wanted, value, run, marks, most);
    if (possible < least) return run.fail(leastKeyword, tooFew, value);
    return sure <= most || run.fail('maxContains', tooMany, value);
  });
}

/** How many items fit, and how many of them without an unenforced pattern. */
function countFitting(
  wanted: SchemaNode,
  value: readonly unknown[],
  run: Run,
  marks: Marks | undefined,
  most: number,
): { sure: number; possible: number } {
  const { unsure, reporter } = run;
  run.reporter = undefined;
  let sure = 0;
  let possible = 0;
  for (let index = 0; index < value.length; index += 1) {
    run.unsure = false;
    if (!evaluate(wanted, value[index], run, undefined)) continue;
    possible += 1;
    if (!run.unsure) sure += 1;
    marks?.addItem(index);
    if (sure > most) break;
  }
  run.reporter = reporter;
  run.unsure = unsure || possible > sure;
  return { sure, possible };
}

// Numbers are kept as prefixed texts: a set of numbers can be made to collide, one of texts cannot.
function areUnique(value: readonly unknown[], run: Run): boolean {
  const seen = new Set<string>();
  for (const item of value) {
    run.spend(10);
    const key = typeof item === 'number' ? numberKey(item) : canonicalKey(item, run);
    if (seen.has(key))
      return run.fail('uniqueItems', () => 'expected items that differ from each other', value);
    seen.add(key);
  }
  return true;
}
