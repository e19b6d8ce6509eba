import type { JsonObject } from '../../json/json-values.js';
import type { Marks } from '../marks.js';
import { quoted } from '../messages.js';
import type { SchemaNode } from '../node.js';
import { evaluate } from '../node.js';
import type { MeteredPattern } from '../pattern-engine.js';
import type { Run } from '../run.js';
import type { Site } from '../site.js';

interface PatternProperty {
  /** Undefined when the pattern is not enforced: then any name may be meant by it. */
  readonly pattern: MeteredPattern | undefined;
  readonly node: SchemaNode;
}

/** `properties`, `patternProperties` and `additionalProperties`, which look at one another. */
export function compileProperties(site: Site, node: SchemaNode): void {
  const named = site.schemaMap('properties') ?? new Map<string, SchemaNode>();
  const patterned = patternProperties(site);
  const additional = site.schemaAt('additionalProperties');
  if (named.size > 0) compileNamed(named, node);
  if (patterned.length > 0)
    node.addForObjects((value, run, marks) => patternedFit(value, patterned, run, marks));
  if (additional === undefined) return;
  if (patterned.some(({ pattern }) => pattern === undefined)) node.addForObjects(anyAdditional);
  else compileAdditional(site, node, additional, named, patterned);
}

function patternProperties(site: Site): readonly PatternProperty[] {
  return (site.entries('patternProperties') ?? []).map(([pattern, schema]) => ({
    pattern: site.compilation.compilePattern(pattern, site.path('patternProperties', pattern)),
    node: site.compile(schema, ['patternProperties', pattern]),
  }));
}

function compileNamed(named: ReadonlyMap<string, SchemaNode>, node: SchemaNode): void {
  const names = [...named.keys()];
  const nodes = [...named.values()];
  node.addForObjects((value, run, marks) => {
    run.spend(names.length);
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index];
      const schema = nodes[index];
      if (name === undefined || schema === undefined || !Object.hasOwn(value, name)) continue;
      if (!propertyFits(schema, value, name, run)) return false;
      marks?.addProperty(name);
    }
    return true;
  });
}

function propertyFits(node: SchemaNode, value: JsonObject, name: string, run: Run): boolean {
  run.down(name);
  if (!evaluate(node, value[name], run, undefined)) return false;
  run.up();
  return true;
}

function patternedFit(
  value: JsonObject,
  patterned: readonly PatternProperty[],
  run: Run,
  marks: Marks | undefined,
): boolean {
  const names = run.keys(value);
  run.spend(names.length * patterned.length);
  for (const name of names) {
    for (const { pattern, node } of patterned) {
      if (pattern === undefined) run.unsure = true;
      else if (!pattern.test(name, run)) continue;
      else if (!propertyFits(node, value, name, run)) return false;
      marks?.addProperty(name);
    }
  }
  return true;
}

// Some pattern is not enforced, so that no property is known to be additional.
function anyAdditional(_value: JsonObject, run: Run, marks: Marks | undefined): boolean {
  run.unsure = true;
  if (marks !== undefined) marks.allProperties = true;
  return true;
}

function compileAdditional(
  site: Site,
  node: SchemaNode,
  additional: SchemaNode,
  named: ReadonlyMap<string, SchemaNode>,
  patterned: readonly PatternProperty[],
): void {
  const isForbidden = site.value('additionalProperties') === false;
  node.addForObjects((value, run, marks) => {
    const keys = run.keys(value);
    run.spend(keys.length * 2);
    for (const name of keys) {
      if (named.has(name) || patterned.some(({ pattern }) => pattern?.test(name, run))) continue;
      if (isForbidden)
        return run.fail('additionalProperties', () => `unexpected property ${quoted(name)}`, value);
      if (!propertyFits(additional, value, name, run)) return false;
    }
    if (marks !== undefined) marks.allProperties = true;
    return true;
  });
}
