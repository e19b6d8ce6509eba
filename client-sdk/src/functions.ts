import type { FunctionSpec, JsonObject, Verb } from '@remotes-hub/protocol';
import { MAX_CALL_TIMEOUT_MS, MAX_DESCRIPTION_LENGTH } from '@remotes-hub/protocol/limits';
import { CallQueue } from './call-queue.js';
import { isJsonObject } from './json-values.js';
import { checkInteger, checkName, checkText } from './checks.js';
import type { CallContext, ServedFunction } from './served-function.js';
import { describeIssues, isStandardSchema, type StandardSchema } from './standard-schema.js';

/** How the arguments of a function are described: JSON Schema, or a schema of zod, Valibot, ArkType and others. */
export type ParametersSchema = StandardSchema | JsonObject;

/** What a handler gets: the output of a Standard Schema, else any JSON object. */
export type ArgumentsOf<Schema> =
  Schema extends StandardSchema<infer _Input, infer Output> ? Output : JsonObject;

/**
 * One function that a remote serves.
 * @see README.md, "Serving functions"
 */
export interface FunctionDefinition<Schema = unknown> {
  /** What it does, for people and models; at most 8192 characters. @default none */
  readonly description?: string;
  /**
   * What its arguments must be. JSON Schema is checked by the hub; a Standard Schema here too, before the
   * handler runs, and the handler gets its output (defaults, transformations). @default any object
   */
  readonly parameters?: Schema & ParametersSchema;
  /** The JSON Schema of `parameters`, needed when the library of `parameters` cannot write it itself. */
  readonly jsonSchema?: JsonObject;
  /** What the function does to the world. @default none: ungoverned */
  readonly verb?: Verb;
  /** Timeout of calls whose caller asks for none, in milliseconds: 1 to 600 000. @default 30 000 */
  readonly timeoutMs?: number;
  /** Most calls of one run: 1 to 10 000. @default no limit */
  readonly maxCalls?: number;
  /**
   * Most calls of this function that run at once: 1 to 10 000. Further ones wait in order; one that nobody waits
   * for any more does not run. @default no limit
   */
  readonly maxConcurrent?: number;
  /** JSON Schema of the result; the hub checks it. @default any */
  readonly result?: JsonObject;
  /** Version of the function, 1 to 64 characters. @default none */
  readonly version?: string;
  /**
   * Does it. What it returns, or its promise resolves to, is the result (`undefined` is `null`); what it throws
   * is the error that the caller sees, its message alone.
   */
  handler(args: ArgumentsOf<Schema>, context: CallContext): unknown;
}

/** The functions of a remote, by name, in the order they are listed. */
export type FunctionDefinitions<Schemas> = {
  readonly [Name in keyof Schemas]: FunctionDefinition<Schemas[Name]>;
};

/**
 * The same definitions, with their types: the arguments of each handler are inferred as in `serve`, and
 * `typeof functions` is what `hub.remote` takes.
 */
export function defineFunctions<Schemas, Definitions extends FunctionDefinitions<Schemas>>(
  functions: Definitions & FunctionDefinitions<Schemas>,
): Definitions {
  return functions;
}

/** A definition whose schema the compiler need not know. */
interface UntypedDefinition extends Omit<FunctionDefinition, 'parameters' | 'handler'> {
  readonly parameters?: unknown;
  handler(args: unknown, context: CallContext): unknown;
}

/** Parses definitions. @throws {TypeError | RangeError} naming the field */
export function parseFunctions<Schemas>(
  functions: FunctionDefinitions<Schemas>,
): Map<string, ServedFunction> {
  if (typeof functions !== 'object' || functions === null || Array.isArray(functions)) {
    throw new TypeError('functions: expected an object of functions by name');
  }
  const served = new Map<string, ServedFunction>();
  for (const name in functions) {
    if (Object.hasOwn(functions, name)) served.set(name, parseFunction(name, functions[name]));
  }
  return served;
}

function parseFunction(name: string, definition: UntypedDefinition): ServedFunction {
  checkName(name, 'functions: the name of a function');
  const field = `functions.${name}`;
  if (typeof definition !== 'object' || definition === null || typeof definition.handler !== 'function') {
    throw new TypeError(`${field}.handler: expected a function`);
  }
  return { spec: toSpec(name, field, definition), prepare: toPrepare(name, field, definition) };
}

function toPrepare(name: string, field: string, definition: UntypedDefinition): ServedFunction['prepare'] {
  const { maxConcurrent } = definition;
  const unlimited = toUnlimited(name, definition);
  if (maxConcurrent === undefined) return unlimited;
  return new CallQueue(checkInteger(maxConcurrent, `${field}.maxConcurrent`, 1, 10_000)).limit(unlimited);
}

function toSpec(name: string, field: string, definition: UntypedDefinition): FunctionSpec {
  const { description, verb, timeoutMs, maxCalls, result, version } = definition;
  if (description !== undefined) checkText(description, `${field}.description`, 0, MAX_DESCRIPTION_LENGTH);
  if (verb !== undefined && !['get', 'create', 'update', 'delete'].includes(verb)) {
    throw new TypeError(`${field}.verb: expected get, create, update or delete`);
  }
  if (timeoutMs !== undefined) checkInteger(timeoutMs, `${field}.timeoutMs`, 1, MAX_CALL_TIMEOUT_MS);
  if (maxCalls !== undefined) checkInteger(maxCalls, `${field}.maxCalls`, 1, 10_000);
  if (version !== undefined) checkText(version, `${field}.version`, 1, 64);
  if (result !== undefined && (!isJsonObject(result) || isStandardSchema(result))) {
    throw new TypeError(`${field}.result: expected a JSON Schema object`);
  }
  const parameters = toJsonSchema(field, definition);
  // Absent fields stay absent: `undefined` members are not written.
  return { name, description, parameters, verb, timeoutMs, maxCalls, result, version };
}

function toJsonSchema(field: string, { parameters, jsonSchema }: UntypedDefinition): JsonObject | undefined {
  if (jsonSchema !== undefined) {
    if (isJsonObject(jsonSchema)) return jsonSchema;
    throw new TypeError(`${field}.jsonSchema: expected a JSON Schema object`);
  }
  if (parameters === undefined) return undefined;
  if (isStandardSchema(parameters)) return convert(field, parameters);
  if (isJsonObject(parameters)) return parameters;
  throw new TypeError(`${field}.parameters: expected a JSON Schema object or a Standard Schema`);
}

function convert(field: string, { '~standard': standard }: StandardSchema): JsonObject {
  const remedy = `give its JSON Schema as ${field}.jsonSchema`;
  if (standard.jsonSchema === undefined) {
    throw new TypeError(`${field}.parameters: ${standard.vendor} writes no JSON Schema; ${remedy}`);
  }
  let written: unknown;
  try {
    written = standard.jsonSchema.input({ target: 'draft-2020-12' });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`${field}.parameters cannot be written as JSON Schema (${why}); ${remedy}`, {
      cause,
    });
  }
  if (isJsonObject(written)) return written;
  throw new TypeError(`${field}.parameters: ${standard.vendor} wrote no JSON Schema object; ${remedy}`);
}

function toUnlimited(name: string, definition: UntypedDefinition): ServedFunction['prepare'] {
  const { parameters } = definition;
  if (!isStandardSchema(parameters)) {
    return (args, context) => ({ call: () => definition.handler(args, context) });
  }
  return async (args, context) => {
    const checked = await parameters['~standard'].validate(args);
    if (checked.issues === undefined) return { call: () => definition.handler(checked.value, context) };
    return { refusal: `arguments of ${name}: ${describeIssues(checked.issues)}` };
  };
}
