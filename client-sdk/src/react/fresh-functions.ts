import type { JsonObject } from '@remotes-hub/protocol';
import { parseFunctions, type FunctionDefinition, type FunctionDefinitions } from '../functions.js';
import { isJsonObject } from '../json-values.js';
import type { CallContext } from '../served-function.js';
import { isStandardSchema, type StandardResult, type StandardSchema } from '../standard-schema.js';

/** A definition whose schema the compiler need not know. */
interface Definition extends Omit<FunctionDefinition, 'parameters' | 'handler'> {
  readonly parameters?: unknown;
  handler(args: unknown, context: CallContext): unknown;
}

/** Definitions by name, in the order they are listed. */
export type Definitions = ReadonlyMap<string, Definition>;

/** The definitions of an object of functions. */
export function definitionsOf<Schemas>(functions: FunctionDefinitions<Schemas>): Definitions {
  const definitions = new Map<string, Definition>();
  for (const name in functions) {
    if (Object.hasOwn(functions, name)) definitions.set(name, functions[name]);
  }
  return definitions;
}

/** The same text for functions that differ in nothing but what runs. Functions that cannot be served have one too. */
export function specKey<Schemas>(functions: FunctionDefinitions<Schemas>): string {
  const definitions = definitionsOf(functions);
  try {
    const specs = Array.from(parseFunctions(functions), ([name, { spec }]) => {
      // Not the spec alone: some fields of a definition are not sent, and matter all the same.
      const { jsonSchema: _, ...definition } = definitions.get(name) ?? {};
      return [name, { ...definition, parameters: spec.parameters }];
    });
    return JSON.stringify(specs);
  } catch (error) {
    return String(error); // serving them will fail with it
  }
}

/** Functions to be served that run, at each call, what the definitions of that moment say. */
export function freshFunctions(latest: {
  readonly current: Definitions;
}): Record<string, FunctionDefinition> {
  return Object.fromEntries(
    Array.from(latest.current, ([name, definition]) => [
      name,
      toFresh(definition, () => latest.current.get(name) ?? definition),
    ]),
  );
}

function toFresh({ parameters, ...definition }: Definition, current: () => Definition): FunctionDefinition {
  return {
    ...definition,
    ...(parameters === undefined ? {} : { parameters: freshParameters(parameters, current) }),
    handler: (args, context) => current().handler(args, context),
  };
}

/** @throws {TypeError} they are no schema */
function freshParameters(parameters: unknown, current: () => Definition): StandardSchema | JsonObject {
  if (!isStandardSchema(parameters)) {
    if (isJsonObject(parameters)) return parameters;
    throw new TypeError('parameters: expected a JSON Schema object or a Standard Schema');
  }
  const validate = (value: unknown): StandardResult<unknown> | Promise<StandardResult<unknown>> => {
    const now = current().parameters;
    return isStandardSchema(now) ? now['~standard'].validate(value) : { value };
  };
  return { '~standard': { ...parameters['~standard'], validate } };
}
