import type { JsonObject } from '../../json/json-values.js';
import type { Marks } from '../marks.js';
import type { Check, SchemaNode } from '../node.js';
import { evaluate } from '../node.js';
import type { Run } from '../run.js';
import type { Site } from '../site.js';
import { isNames } from '../site.js';

/** `allOf`, `anyOf`, `oneOf`, `not`, `if`/`then`/`else` and the schemas that depend on a property. */
export function compileCombinators(site: Site, node: SchemaNode): void {
  compileAllOf(site, node);
  compileAnyOf(site, node);
  compileOneOf(site, node);
  compileNot(site, node);
  compileConditional(site, node);
  compileDependentSchemas(site, node);
}

function compileAllOf(site: Site, node: SchemaNode): void {
  const parts = site.schemas('allOf');
  if (parts === undefined) return;
  node.inPlace.push(...parts);
  node.addLast((value, run, marks) => {
    for (const part of parts) {
      if (!evaluate(part, value, run, marks)) return false;
    }
    return true;
  });
}

function compileAnyOf(site: Site, node: SchemaNode): void {
  const branches = site.schemas('anyOf');
  if (branches === undefined) return;
  node.inPlace.push(...branches);
  node.addLast((value, run, marks) => {
    const failures = [];
    const depth = run.pathLength;
    let fits = false;
    for (const branch of branches) {
      if (branchFits(branch, value, run, marks)) {
        if (marks === undefined) return true;
        fits = true; // the other branches may evaluate more of the value
      }
      const failure = run.takeFailure(depth);
      if (failure !== undefined) failures.push(failure);
    }
    return fits || run.failBranches('anyOf', failures, value);
  });
}

function compileOneOf(site: Site, node: SchemaNode): void {
  const branches = site.schemas('oneOf');
  if (branches === undefined) return;
  const describe = (): string => 'fits more than one of the forms of which only one is allowed';
  node.inPlace.push(...branches);
  node.addLast((value, run, marks) => {
    const failures = [];
    const depth = run.pathLength;
    const { unsure } = run;
    let possible = 0;
    let sure = 0;
    for (const branch of branches) {
      run.unsure = false;
      if (branchFits(branch, value, run, marks)) {
        possible += 1;
        if (!run.unsure) sure += 1;
      }
      const failure = run.takeFailure(depth);
      if (failure !== undefined) failures.push(failure);
      if (sure > 1) break;
    }
    run.unsure = unsure || possible > sure;
    if (possible === 0) return run.failBranches('oneOf', failures, value);
    return sure <= 1 || run.fail('oneOf', describe, value);
  });
}

/** A branch that fails leaves no marks and no doubt behind. */
function branchFits(branch: SchemaNode, value: unknown, run: Run, marks: Marks | undefined): boolean {
  const { unsure } = run;
  const state = marks?.state();
  if (evaluate(branch, value, run, marks)) return true;
  run.unsure = unsure;
  if (marks !== undefined && state !== undefined) marks.returnTo(state);
  return false;
}

/** Evaluates a schema whose failure is no failure; tells also whether the answer is certain. */
function quietly(
  node: SchemaNode,
  value: unknown,
  run: Run,
  marks: Marks | undefined,
): { fits: boolean; isSure: boolean } {
  const { unsure, reporter } = run;
  run.reporter = undefined;
  run.unsure = false;
  const fits = branchFits(node, value, run, marks);
  const isSure = !run.unsure;
  run.reporter = reporter;
  run.unsure = unsure || !isSure;
  return { fits, isSure };
}

function compileNot(site: Site, node: SchemaNode): void {
  const excluded = site.schemaAt('not');
  if (excluded === undefined) return;
  const describe = (): string => 'fits the form that "not" excludes';
  node.inPlace.push(excluded);
  node.addLast((value, run) => {
    const { fits, isSure } = quietly(excluded, value, run, undefined);
    return !fits || !isSure || run.fail('not', describe, value);
  });
}

function compileConditional(site: Site, node: SchemaNode): void {
  const condition = site.schemaAt('if');
  const consequence = site.schemaAt('then');
  const alternative = site.schemaAt('else');
  if (condition === undefined) return;
  for (const part of [condition, consequence, alternative]) {
    if (part !== undefined) node.inPlace.push(part);
  }
  node.addLast((value, run, marks) => {
    const { fits, isSure } = quietly(condition, value, run, marks);
    if (fits && !isSure) return true; // neither branch is known to be meant
    const chosen = fits ? consequence : alternative;
    return chosen === undefined || evaluate(chosen, value, run, marks);
  });
}

/** `dependentSchemas`, and the entries of `dependencies` that are schemas. */
function compileDependentSchemas(site: Site, node: SchemaNode): void {
  for (const keyword of ['dependentSchemas', 'dependencies']) {
    if (keyword === 'dependentSchemas' && site.dialect !== '2020-12') continue;
    for (const [name, schema] of site.entries(keyword) ?? []) {
      if (keyword === 'dependencies' && isNames(schema)) continue;
      const dependent = site.compile(schema, [keyword, name]);
      node.inPlace.push(dependent);
      node.addForObjects(dependentCheck(name, dependent));
    }
  }
}

function dependentCheck(name: string, dependent: SchemaNode): Check<JsonObject> {
  return (value, run, marks) => {
    run.spend(1);
    return !Object.hasOwn(value, name) || evaluate(dependent, value, run, marks);
  };
}
