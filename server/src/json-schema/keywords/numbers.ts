import { multiplesOf } from '../decimals.js';
import type { SchemaNode } from '../node.js';
import type { Site } from '../site.js';

/** `minimum`, `maximum`, their exclusive forms (also draft-04's booleans) and `multipleOf`. */
export function compileNumberKeywords(site: Site, node: SchemaNode): void {
  compileLowerBounds(site, node);
  compileUpperBounds(site, node);
  const divisor = site.number('multipleOf');
  if (divisor === undefined) return;
  if (divisor <= 0 || divisor === Infinity) site.refuse('multipleOf', 'a number above 0');
  const isMultiple = multiplesOf(divisor);
  const describe = (): string => `expected a multiple of ${divisor}`;
  node.addForNumbers((value, run) => isMultiple(value, run) || run.fail('multipleOf', describe, value));
}

function compileLowerBounds(site: Site, node: SchemaNode): void {
  const minimum = site.number('minimum');
  const exclusive = exclusiveBound(site, 'exclusiveMinimum', minimum);
  if (exclusive !== undefined) {
    const describe = (): string => `expected more than ${exclusive}`;
    node.addForNumbers((value, run) => value > exclusive || run.fail('exclusiveMinimum', describe, value));
  }
  if (minimum !== undefined && minimum !== exclusive) {
    const describe = (): string => `expected at least ${minimum}`;
    node.addForNumbers((value, run) => value >= minimum || run.fail('minimum', describe, value));
  }
}

function compileUpperBounds(site: Site, node: SchemaNode): void {
  const maximum = site.number('maximum');
  const exclusive = exclusiveBound(site, 'exclusiveMaximum', maximum);
  if (exclusive !== undefined) {
    const describe = (): string => `expected less than ${exclusive}`;
    node.addForNumbers((value, run) => value < exclusive || run.fail('exclusiveMaximum', describe, value));
  }
  if (maximum !== undefined && maximum !== exclusive) {
    const describe = (): string => `expected at most ${maximum}`;
    node.addForNumbers((value, run) => value <= maximum || run.fail('maximum', describe, value));
  }
}

/** A number, or draft-04's `true`, which makes the inclusive bound beside it exclusive. */
function exclusiveBound(site: Site, keyword: string, inclusive: number | undefined): number | undefined {
  const value = site.value(keyword);
  if (value === undefined || value === false) return undefined;
  if (value === true) return inclusive;
  return typeof value === 'number' ? value : site.refuse(keyword, 'a number');
}
