import { isJsonArray, isJsonObject } from '../../json/json-values.js';
import { Marks } from '../marks.js';
import { quoted } from '../messages.js';
import type { Check, SchemaNode } from '../node.js';
import { evaluate } from '../node.js';
import type { Run } from '../run.js';
import type { Site } from '../site.js';

/** Whether a schema must know what its other keywords evaluated. */
export function needsMarks(site: Site): boolean {
  return site.dialect === '2020-12' && (site.has('unevaluatedProperties') || site.has('unevaluatedItems'));
}

/** `unevaluatedProperties` and `unevaluatedItems` around the rest of the schema, which is `inner`. */
export function compileUnevaluated(site: Site, node: SchemaNode, inner: SchemaNode): void {
  const properties = site.schemaAt('unevaluatedProperties');
  const items = site.schemaAt('unevaluatedItems');
  const isForbidden = site.value('unevaluatedProperties') === false;
  node.inPlace.push(inner);
  const remainder: Check<unknown> = (value, run, own) => {
    if (own === undefined) return true;
    if (isJsonArray(value)) return items === undefined || itemsFit(items, value, run, own);
    if (!isJsonObject(value) || properties === undefined) return true;
    const keys = run.keys(value);
    run.spend(keys.length * 2);
    for (const name of keys) {
      if (own.hasProperty(name)) continue;
      if (isForbidden) {
        return run.fail('unevaluatedProperties', () => `unexpected property ${quoted(name)}`, value);
      }
      run.down(name);
      if (!evaluate(properties, value[name], run, undefined)) return false;
      run.up();
    }
    own.allProperties = true;
    return true;
  };
  node.addLast((value, run, marks) => {
    const own = new Marks(run);
    if (!evaluate(inner, value, run, own) || !remainder(value, run, own)) return false;
    marks?.addAll(own);
    return true;
  });
}

function itemsFit(items: SchemaNode, value: readonly unknown[], run: Run, own: Marks): boolean {
  run.spend(value.length);
  for (let index = 0; index < value.length; index += 1) {
    if (own.hasItem(index)) continue;
    run.down(index);
    if (!evaluate(items, value[index], run, undefined)) return false;
    run.up();
  }
  own.allItems = true;
  return true;
}
