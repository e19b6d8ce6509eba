import {
  functionSpecsSchema,
  remoteNameSchema,
  type FunctionSpec,
  type JsonObject,
  type JsonValue,
} from '@remotes-hub/protocol';
import { JsonText } from '../json/json-text.js';
import { HostProvider, type HostFunction } from '../remotes/host-provider.js';
import { RemoteError } from '../remotes/remote-error.js';
import type { RemoteRegistry } from '../remotes/remote-registry.js';
import { compileFunctions, type ServedFunctionLimits } from '../remotes/served-functions.js';
import type { StartedCall } from './call-request.js';
import type { Calls } from './calls.js';

/** A remote that the host program serves for one user. */
export interface HostRemote {
  readonly userId: string;
  readonly remotename: string;
  readonly functions: readonly HostFunction[];
}

/** A served remote; disposing of it disconnects it. */
export interface ConnectedHostRemote extends Disposable {
  readonly remotename: string;
  /** Harmless when it is disconnected already. With `drain`, calls in flight may finish. */
  disconnect(options?: { readonly drain?: boolean }): void;
}

/** A call that the host program makes for one user. */
export interface HostCall {
  readonly userId: string;
  readonly remotename: string;
  readonly function: string;
  /** @default {} */
  readonly args?: JsonObject;
  /** Milliseconds. @default the function spec's, else 30 000 */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: JsonValue) => void;
}

/** The host program's own way to the remotes: serve in this process, list, call, by the same road as sessions. */
export class HostProgram {
  constructor(
    private readonly registry: RemoteRegistry,
    private readonly calls: Calls,
    private readonly limits: ServedFunctionLimits,
  ) {}

  /**
   * Serves functions in this process, as a session would over its socket.
   * @throws {RemoteError} `remote-already-connected`, `invalid-schema`, `too-many-remotes`, `shutting-down`
   * @throws {TypeError} when name or functions have the wrong form
   */
  connectRemote({ userId, remotename, functions }: HostRemote): ConnectedHostRemote {
    const name = remoteNameSchema.safeParse(remotename);
    const specs = functionSpecsSchema.safeParse(functions.map(specOf));
    if (!name.success) throw new TypeError('remotename: expected a string of 1 to 128 characters');
    if (!specs.success)
      throw new TypeError(`functions: ${specs.error.issues[0]?.message ?? 'not function specs'}`);
    const description = {
      userId,
      remotename,
      tools: JsonText.of(functions.map(specOf)),
      functions: compileFunctions(specs.data, this.limits).functions,
    };
    const connection = this.registry.connect(description, new HostProvider(functions));
    const disconnect = (options?: { readonly drain?: boolean }): void =>
      this.registry.disconnectConnection(connection, options);
    return { remotename, disconnect, [Symbol.dispose]: () => disconnect() };
  }

  /** What is connected for a user, in order of connection. */
  listRemotes(userId: string): { remotename: string; tools: FunctionSpec[] }[] {
    return Array.from(this.registry.list(userId), ({ remotename, tools }) => ({
      remotename,
      tools: functionSpecsSchema.parse(tools.parse()),
    }));
  }

  /** Calls a function of a user's remote. @throws {RemoteError} */
  async call({
    userId,
    remotename,
    function: functionName,
    args = {},
    timeoutMs,
    signal,
    onProgress,
  }: HostCall): Promise<JsonValue> {
    if (signal?.aborted)
      throw new RemoteError('call-cancelled', 'the call was cancelled', { executed: 'no' });
    const call = this.calls.start({
      userId,
      remotename,
      functionName,
      args: new JsonText(JSON.stringify(args)),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(onProgress && { onProgress: (progress) => onProgress(progress.parse()) }),
    });
    const result = await (signal === undefined ? call.result : untilAborted(call, signal));
    return result.parse();
  }
}

async function untilAborted(call: StartedCall, signal: AbortSignal): Promise<JsonText> {
  const cancel = (): void => call.cancel('call-cancelled');
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await call.result;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function specOf({ handler: _handler, ...spec }: HostFunction): FunctionSpec {
  return spec;
}
