import {
  functionSpecSchema,
  type FunctionSpec,
  type JsonObject,
  type JsonValue,
} from '@remotes-hub/protocol';
import { JsonText } from '../json/json-text.js';
import { describeFailure, functionFailed } from '../remotes/function-failure.js';
import { RemoteError } from '../remotes/remote-error.js';
import {
  compileFunctions,
  type ServedFunction,
  type ServedFunctionLimits,
} from '../remotes/served-functions.js';
import type { NativeTool, NativeToolOptions } from './native-tool.js';
import { untilAborted } from './until-aborted.js';

/**
 * A native tool as a module exports it: a function spec with a handler (server/README.md, "Native tools"). The
 * type of the arguments is what `parameters` promise: they are checked before the handler is called.
 */
export interface NativeToolDefinition<Args extends JsonObject = JsonObject> extends Omit<
  FunctionSpec,
  'name'
> {
  /** @default the name of the export */
  readonly name?: string;
  /**
   * Whatever it returns is the result, `undefined` is `null`. The model reads the message of what it throws, so
   * that holds no secret. Its time is `timeoutMs` of the spec, else `limits.callTimeoutMs`.
   */
  handler(args: Args, options: NativeToolOptions): unknown;
}

/** What bounds native tools, as it does functions of remotes. */
export interface NativeToolLimits extends ServedFunctionLimits {
  readonly callTimeoutMs: number;
}

/** A tool that is ready to run, and sentences about what of its schemas is not enforced. */
export interface DefinedTool {
  readonly tool: NativeTool;
  readonly warnings: readonly string[];
}

/**
 * Makes a tool of its definition.
 * @param name the name of the export
 * @throws {TypeError} when the spec has the wrong form
 * @throws {RemoteError} `invalid-schema`
 */
export function defineTool(
  name: string,
  definition: NativeToolDefinition,
  limits: NativeToolLimits,
): DefinedTool {
  const spec = specOf(name, definition);
  const { functions, warnings } = compileFunctions([spec], limits);
  const served = functions.get(spec.name) ?? { spec, parameters: undefined, result: undefined };
  const timeoutMs = spec.timeoutMs ?? limits.callTimeoutMs;
  return {
    tool: {
      spec,
      run: async (args, { signal }) => {
        requireFit(served, 'parameters', args);
        const handle = async (options: NativeToolOptions) => definition.handler(args, options);
        const result = jsonOf(await withDeadline(spec.name, timeoutMs, signal, handle));
        requireFit(served, 'result', result);
        return result;
      },
    },
    warnings,
  };
}

function specOf(exportName: string, definition: NativeToolDefinition): FunctionSpec {
  const name = definition.name ?? exportName;
  // as JSON: what a model is shown, with nothing of the module's own objects in it
  const json = JsonText.of({ ...definition, name, handler: undefined });
  const parsed = functionSpecSchema.safeParse(json.parse());
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TypeError(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'no function spec'}`);
}

function requireFit(served: ServedFunction, field: 'parameters' | 'result', value: unknown): void {
  const failure = served[field]?.validate(value);
  if (failure === undefined) return;
  const place = `${served.spec.name}: ${failure.path === '' ? '' : `${failure.path}: `}${failure.message}`;
  if (field === 'parameters') throw new RemoteError('invalid-arguments', `arguments of ${place}`);
  throw new RemoteError('invalid-result', `result of ${place}`);
}

/** Runs a handler until it ends, the run does, or its time is over; the signal tells it of the latter two. */
async function withDeadline(
  name: string,
  timeoutMs: number,
  signal: AbortSignal,
  handle: (options: NativeToolOptions) => Promise<unknown>,
): Promise<unknown> {
  const ending = new AbortController();
  const late = () => new RemoteError('call-timeout', `'${name}' did not answer within ${timeoutMs} ms`);
  const timer = setTimeout(() => ending.abort(late()), timeoutMs);
  const either = AbortSignal.any([signal, ending.signal]);
  try {
    return await untilAborted(handle({ signal: either }), either);
  } catch (error) {
    if (either.aborted && error === either.reason) throw error;
    throw functionFailed(error, 'yes');
  } finally {
    clearTimeout(timer);
  }
}

function jsonOf(value: unknown): JsonValue {
  if (value === undefined) return null;
  try {
    const text: unknown = JSON.stringify(value);
    if (typeof text === 'string') return new JsonText(text).parse();
  } catch (error) {
    throw new RemoteError('function-failed', `the result is no JSON: ${describeFailure(error)}`);
  }
  throw new RemoteError('function-failed', `the result is no JSON: a ${typeof value}`);
}
