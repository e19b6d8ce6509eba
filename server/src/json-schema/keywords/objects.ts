import type { JsonObject } from '../../json/json-values.js';
import { counted, quoted } from '../messages.js';
import type { Check, SchemaNode } from '../node.js';
import { evaluate } from '../node.js';
import type { Site } from '../site.js';
import { isNames } from '../site.js';

/** `required`, `minProperties`, `maxProperties`, `dependentRequired` and `propertyNames`. */
export function compileObjectKeywords(site: Site, node: SchemaNode): void {
  const required = site.names('required');
  if (required !== undefined && required.length > 0) node.addForObjects(requiredCheck('required', required));
  compileCounts(site, node);
  compileDependentNames(site, node);
  const names = site.schemaAt('propertyNames');
  if (names !== undefined) node.addForObjects(propertyNamesCheck(names));
}

function requiredCheck(keyword: string, names: readonly string[]): Check<JsonObject> {
  const describe = (value: JsonObject): string => {
    const missing = names.find((name) => !Object.hasOwn(value, name)) ?? '';
    return `missing property ${quoted(missing)}`;
  };
  return (value, run) => {
    run.spend(names.length);
    for (const name of names) {
      if (!Object.hasOwn(value, name)) return run.fail(keyword, describe, value);
    }
    return true;
  };
}

function compileCounts(site: Site, node: SchemaNode): void {
  const least = site.count('minProperties');
  if (least !== undefined) {
    const describe = (): string => `expected at least ${counted(least, 'property')}`;
    node.addForObjects(
      (value, run) => run.keys(value).length >= least || run.fail('minProperties', describe, value),
    );
  }
  const most = site.count('maxProperties');
  if (most !== undefined) {
    const describe = (): string => `expected at most ${counted(most, 'property')}`;
    node.addForObjects(
      (value, run) => run.keys(value).length <= most || run.fail('maxProperties', describe, value),
    );
  }
}

/** `dependentRequired`, and the entries of `dependencies` that are lists of names. */
function compileDependentNames(site: Site, node: SchemaNode): void {
  for (const keyword of ['dependentRequired', 'dependencies']) {
    if (keyword === 'dependentRequired' && site.dialect !== '2020-12') continue;
    for (const [name, names] of site.entries(keyword) ?? []) {
      if (isNames(names)) node.addForObjects(dependentCheck(keyword, name, names));
      else if (keyword === 'dependentRequired' || Array.isArray(names)) {
        throw site.refusal([keyword, name], names, 'an array of strings');
      }
    }
  }
}

function dependentCheck(keyword: string, name: string, names: readonly string[]): Check<JsonObject> {
  const check = requiredCheck(keyword, names);
  return (value, run, marks) => {
    run.spend(1);
    return !Object.hasOwn(value, name) || check(value, run, marks);
  };
}

function propertyNamesCheck(names: SchemaNode): Check<JsonObject> {
  return (value, run) => {
    const { reporter } = run;
    run.reporter = undefined; // a path inside a name would say nothing
    const wrong = run.keys(value).find((name) => !evaluate(names, name, run, undefined));
    run.reporter = reporter;
    return (
      wrong === undefined ||
      run.fail('propertyNames', () => `the property name ${quoted(wrong)} is not allowed`, value)
    );
  };
}
