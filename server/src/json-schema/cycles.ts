import type { SchemaNode } from './node.js';
import { SchemaError } from './schema-error.js';

/**
 * Refuses references that lead back to where they began without going into the value: applying such
 * a schema would never end. Recursion through properties and items is fine. Without recursion, since
 * a chain of references can be as long as the schema.
 * @throws {SchemaError}
 */
export function refuseEndlessReferences(nodes: Iterable<SchemaNode>): void {
  const done = new Set<SchemaNode>();
  for (const start of nodes) {
    if (start.inPlace.length > 0 && !done.has(start)) visit(start, done);
  }
}

function visit(start: SchemaNode, done: Set<SchemaNode>): void {
  const open = new Set<SchemaNode>();
  const trail: { node: SchemaNode; next: number }[] = [{ node: start, next: 0 }];
  for (let step = trail.at(-1); step !== undefined; step = trail.at(-1)) {
    const { node } = step;
    const inner = done.has(node) ? undefined : node.inPlace[step.next];
    step.next += 1;
    open.add(node);
    if (inner === undefined) {
      done.add(node);
      open.delete(node);
      trail.pop();
    } else if (open.has(inner)) {
      throw new SchemaError(
        node.path,
        'the schema refers to itself without end: the cycle goes into no part of the value',
      );
    } else {
      trail.push({ node: inner, next: 0 });
    }
  }
}
