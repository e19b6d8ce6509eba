import type { Check, SchemaNode } from '../node.js';
import { evaluate } from '../node.js';
import type { Location, Resource } from '../resources.js';
import type { Site } from '../site.js';

/** `$ref` and `$dynamicRef`, both only to places in the same document. */
export function compileReferences(site: Site, node: SchemaNode): void {
  const reference = site.string('$ref');
  if (reference !== undefined) {
    site.compilation.link('$ref', reference, site.location, (target, targetNode) => {
      node.inPlace.push(targetNode);
      node.addReference(scoped(target.resource, targetNode));
    });
  }
  const dynamic = site.dialect === '2020-12' ? site.string('$dynamicRef') : undefined;
  if (dynamic === undefined) return;
  site.compilation.link('$dynamicRef', dynamic, site.location, (target, targetNode) => {
    const name = dynamic.slice(dynamic.indexOf('#') + 1);
    const isDynamic = target.resource.dynamicAnchors.get(name)?.schema === target.schema;
    if (!isDynamic) node.inPlace.push(targetNode);
    node.addReference(
      isDynamic ? dynamicCheck(name, target, targetNode) : scoped(target.resource, targetNode),
    );
  });
}

/** Applies a schema of another resource: while it runs, that resource is part of the dynamic scope. */
export function scoped(resource: Resource, node: SchemaNode): Check<unknown> {
  return (value, run, marks) => {
    run.scope.push(resource);
    const fits = evaluate(node, value, run, marks);
    run.scope.pop();
    return fits;
  };
}

/** The outermost resource of the dynamic scope that has the anchor decides. */
function dynamicCheck(name: string, initial: Location, initialNode: SchemaNode): Check<unknown> {
  return (value, run, marks) => {
    run.spend(run.scope.length);
    const entry = run.scope.find(({ dynamicAnchors }) => dynamicAnchors.has(name)) ?? initial.resource;
    run.scope.push(entry);
    const fits = (entry.dynamicNode(name) ?? initialNode).evaluate(value, run, marks);
    run.scope.pop();
    return fits;
  };
}
