import type { FunctionSpec } from '@remotes-hub/protocol';
import { SchemaError, compileSchema, type CompiledSchema } from '../json-schema/schema.js';
import { RemoteError } from './remote-error.js';

/** A function of a connected remote, ready to be called. */
export interface ServedFunction {
  readonly spec: FunctionSpec;
  /** Checks the arguments; absent when any object will do. */
  readonly parameters: CompiledSchema | undefined;
  /** Checks the result; absent when anything will do. */
  readonly result: CompiledSchema | undefined;
}

/** The functions of one remote by name, in the order they were listed. */
export interface ServedFunctions {
  readonly functions: ReadonlyMap<string, ServedFunction>;
  /** Sentences about what is accepted but not enforced. */
  readonly warnings: readonly string[];
}

/** Bounds of one schema. */
export interface ServedFunctionLimits {
  readonly maxSchemaBytes: number;
  readonly maxSchemaDepth: number;
}

/** Prepares the schemas of a remote. @throws {RemoteError} `invalid-schema`, naming function, field and place */
export function compileFunctions(
  specs: readonly FunctionSpec[],
  limits: ServedFunctionLimits,
): ServedFunctions {
  const functions = new Map<string, ServedFunction>();
  const warnings: string[] = [];
  for (const spec of specs) {
    requireObjectType(spec);
    functions.set(spec.name, {
      spec,
      parameters: compileField(spec, 'parameters', limits, warnings),
      result: compileField(spec, 'result', limits, warnings),
    });
  }
  return { functions, warnings };
}

/** `args` is always an object, so a schema that no object fits can never be called. */
function requireObjectType({ name, parameters }: FunctionSpec): void {
  if (parameters == null || !Object.hasOwn(parameters, 'type')) return;
  const type = parameters['type'];
  if (type === 'object' || (Array.isArray(type) && type.includes('object'))) return;
  throw new RemoteError(
    'invalid-schema',
    `function '${name}': parameters/type: expected "object", since arguments are an object`,
  );
}

function compileField(
  spec: FunctionSpec,
  field: 'parameters' | 'result',
  limits: ServedFunctionLimits,
  warnings: string[],
): CompiledSchema | undefined {
  const schema = spec[field];
  if (schema == null || Object.keys(schema).length === 0) return undefined;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > limits.maxSchemaBytes) {
    throw new RemoteError(
      'invalid-schema',
      `function '${spec.name}': ${field}: ${bytes} bytes, at most ${limits.maxSchemaBytes} are taken`,
    );
  }
  try {
    const compiled = compileSchema(schema, { maxDepth: limits.maxSchemaDepth });
    for (const path of compiled.unenforcedPatterns) {
      warnings.push(
        `function '${spec.name}': ${field}${path}: this pattern needs backtracking and is not enforced`,
      );
    }
    return compiled;
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const message = `function '${spec.name}': ${field}${error.path}: ${error.message}`;
    throw new RemoteError('invalid-schema', message, { cause: error });
  }
}
