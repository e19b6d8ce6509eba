import type { Executed, FunctionSpec, JsonValue } from '@remotes-hub/protocol';
import type { CallRequest, StartedCall } from '../calls/call-request.js';
import { JsonText } from '../json/json-text.js';
import type { Logger } from '../observability/logger.js';
import type { TraceSpan, Tracing } from '../observability/tracing.js';
import { RemoteError } from '../remotes/remote-error.js';
import { listNames } from './name-list.js';
import type { Tool, ToolSet } from './run-tools.js';
import type { ReadableArguments, ReadArguments } from './tool-arguments.js';
import { failed, failedWith, succeeded, type ToolOutcome } from './tool-outcome.js';
import { untilAborted } from './until-aborted.js';

/** Longest list of names that a model is told when it calls an unknown tool, in characters. */
const MAX_NAMES_LENGTH = 2_000;

type NativeRunTool = Extract<Tool, { kind: 'native' }>;
type RemoteRunTool = Extract<Tool, { kind: 'remote' }>;

/** The one road of every call to a function of a remote. */
export interface CallStarter {
  start(request: CallRequest): StartedCall;
}

/** What the tools of one run are called with. */
export interface ToolCallerOptions {
  readonly userId: string;
  readonly tools: ToolSet;
  readonly calls: CallStarter;
  readonly log: Logger;
  readonly tracing: Tracing;
  /** Ends every call under way. */
  readonly signal: AbortSignal;
}

/** Calls the tools of one run. Whatever happens to a call becomes its outcome: nothing here ends the run. */
export class ToolCaller {
  /** Calls that ran or may have run, by function: two tools of one function share its limit. */
  readonly #counts = new Map<FunctionSpec, number>();

  constructor(private readonly options: ToolCallerOptions) {}

  /** Never rejects. @param step the span that the call belongs to, where somebody traces */
  async call(name: string, read: ReadArguments, step?: TraceSpan): Promise<ToolOutcome> {
    const tool = this.options.tools.get(name);
    if (tool === undefined) return failed('function-not-found', this.#unknownTool(name));
    if ('error' in read) return failed('invalid-arguments', read.error);
    if (this.options.signal.aborted) return failedWith(this.#ended('no'));
    const { spec } = tool;
    const count = this.#counts.get(spec) ?? 0;
    if (spec.maxCalls !== undefined && count >= spec.maxCalls) {
      return failed('too-many-calls', `'${name}' may be called at most ${spec.maxCalls} times in one run`);
    }
    this.#counts.set(spec, count + 1);
    try {
      return succeeded(await this.#run(tool, read.arguments, step));
    } catch (error) {
      return this.#failure(tool, error);
    }
  }

  async #run(tool: Tool, args: ReadableArguments, step: TraceSpan | undefined): Promise<JsonText> {
    return tool.kind === 'remote' ? this.#callRemote(tool, args, step) : this.#runNative(tool, args, step);
  }

  async #runNative(
    { name, native }: NativeRunTool,
    args: ReadableArguments,
    step: TraceSpan | undefined,
  ): Promise<JsonText> {
    const { signal, tracing } = this.options;
    const span = tracing.start('remotes_hub.tool', { 'remotes_hub.tool': name }, step);
    const run = async (): Promise<JsonValue> => native.run(args.value, { signal });
    try {
      const result = await untilAborted(span === undefined ? run() : span.run(run), signal);
      span?.close();
      return JsonText.of(result);
    } catch (error) {
      span?.close(error instanceof RemoteError ? error.code : 'internal-error');
      throw error;
    }
  }

  async #callRemote(
    { remotename, spec }: RemoteRunTool,
    args: ReadableArguments,
    parent: TraceSpan | undefined,
  ): Promise<JsonText> {
    const { userId, calls, signal } = this.options;
    const call = calls.start({
      userId,
      remotename,
      functionName: spec.name,
      args: args.text,
      parsedArgs: args.value,
      parent,
    });
    const cancel = (): void => call.cancel('call-cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await call.result;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  #failure(tool: Tool, error: unknown): ToolOutcome {
    if (error instanceof RemoteError) {
      if (error.executed === 'no') this.#giveBack(tool.spec);
      return failedWith(error);
    }
    if (this.options.signal.aborted) return failedWith(this.#ended('unknown'));
    this.options.log.error({ err: error, tool: tool.name }, 'tool failed');
    return failed('internal-error', `'${tool.name}' failed`);
  }

  /** A call that did not run does not count, so a model may correct its arguments. */
  #giveBack(spec: FunctionSpec): void {
    this.#counts.set(spec, (this.#counts.get(spec) ?? 1) - 1);
  }

  /** The run was cancelled, or has reached a limit. */
  #ended(executed: Executed): RemoteError {
    const reason: unknown = this.options.signal.reason;
    const text = reason instanceof Error ? reason.message : 'the run has ended';
    return new RemoteError('call-cancelled', text, { executed });
  }

  #unknownTool(name: string): string {
    const { tools } = this.options;
    const shown = name.slice(0, 128);
    if (tools.size === 0) return `there is no tool named '${shown}'; this run has no tools`;
    return `there is no tool named '${shown}'; tools: ${listNames([...tools.keys()], MAX_NAMES_LENGTH)}`;
  }
}
