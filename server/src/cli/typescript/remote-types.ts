import type { FunctionSpec } from '@remotes-hub/protocol';
import { isJsonObject, type JsonObject } from '../../json/json-values.js';
import { SchemaTypes } from './schema-types.js';
import { INDENT } from './structure-types.js';
import { docComment, memberName, stringLiteral, typeName } from './type-text.js';

/** A remote as a TypeScript interface. */
export interface RemoteTypes {
  /** The name of the interface. */
  readonly name: string;
  /** A whole module. */
  readonly text: string;
}

/**
 * Writes the interface that `hub.remote` of the client takes for a remote, always a valid module, whatever its
 * specs hold.
 */
export function remoteTypes(remotename: string, functions: readonly FunctionSpec[]): RemoteTypes {
  const wanted = typeName(remotename, 'Remote');
  const name = wanted === 'Promise' ? 'PromiseService' : wanted; // the results are promises
  const types = new SchemaTypes([name, 'Promise']);
  const methods = functions.map((spec) => method(spec, types));
  const literal = stringLiteral(remotename);
  const text = [
    `// The functions of the remote ${literal}: hub.remote<${name}>(${literal}).\n`,
    `export interface ${name} {\n${methods.join('\n')}}\n`,
    ...types.declarations(),
  ].join('\n');
  return { name, text };
}

function method({ name, description, parameters, result }: FunctionSpec, types: SchemaTypes): string {
  const base = typeName(name, 'Function');
  const args = types.write(parameters ?? true, `${base}Arguments`, INDENT, ['object']).text;
  const returned = types.write(result ?? true, `${base}Result`, INDENT, undefined).text;
  // What the client lists is what some hub says: only the name is checked.
  const comment = docComment(typeof description === 'string' ? description : '', INDENT);
  const argument = `args${mayBeAbsent(parameters) ? '?' : ''}: ${args === 'unknown' ? 'object' : args}`;
  return `${comment}${INDENT}${memberName(name)}(${argument}): Promise<${returned}>;\n`;
}

const demanding = [
  '$ref',
  'required',
  'minProperties',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'const',
  'enum',
];

/** Whether `{}` fits for sure. */
function mayBeAbsent(parameters: JsonObject | null | undefined): boolean {
  return !isJsonObject(parameters) || !demanding.some((keyword) => Object.hasOwn(parameters, keyword));
}
