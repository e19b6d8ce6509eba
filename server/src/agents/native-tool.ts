import type { FunctionSpec, JsonObject, JsonValue } from '@remotes-hub/protocol';

/** What a native tool gets beside its arguments. */
export interface NativeToolOptions {
  /** Aborts when nobody waits for the result any more: the run has ended, or the tool's time is over. */
  readonly signal: AbortSignal;
}

/** A tool that runs in the hub itself. */
export interface NativeTool {
  readonly spec: FunctionSpec;
  /**
   * Runs the tool. It checks its own arguments.
   * @throws {RemoteError} what the model shall read; any other error reaches the log and not the model
   */
  run(args: JsonObject, options: NativeToolOptions): Promise<JsonValue> | JsonValue;
}
