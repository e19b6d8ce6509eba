import { activeTrace } from '@remotes-hub/client/trace-fields';
import {
  functionSpecsSchema,
  remoteCallSchema,
  remoteNameSchema,
  type FunctionSpec,
  type JsonObject,
  type JsonValue,
} from '@remotes-hub/protocol';
import { JsonText } from '../json/json-text.js';
import type { TraceFields } from '../observability/trace-context.js';
import { HostProvider, type HostFunction } from '../remotes/host-provider.js';
import { excessOf, type MessageBounds } from '../remotes/message-bounds.js';
import type { Logger } from '../observability/logger.js';
import type { Provider } from '../remotes/provider.js';
import type { RemoteConnection, RemoteDescription } from '../remotes/remote-connection.js';
import { RemoteError } from '../remotes/remote-error.js';
import { compileFunctions, type ServedFunctionLimits } from '../remotes/served-functions.js';
import { whenThere, type Soon } from '../soon.js';
import type { CallRequest, StartedCall } from './call-request.js';
import type { Calls } from './calls.js';

const hostCallSchema = remoteCallSchema.shape.body;

/** A remote that the host program serves for one user. */
export interface HostRemote {
  readonly userId: string;
  readonly remotename: string;
  readonly functions: readonly HostFunction[];
}

/** A served remote; disposing of it disconnects it. */
export interface ConnectedHostRemote extends Disposable {
  readonly remotename: string;
  /**
   * Resolves when the name is this remote's among all nodes, on one node alone at once. Rejects with a `RemoteError` when
   * another node has it, or the others cannot be asked; it is not connected then.
   */
  readonly connected: Promise<void>;
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
  /** Where the call belongs in a trace (W3C Trace Context). @default the active span of OpenTelemetry, if any */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** The remotes of all nodes, as far as the host program needs them. */
export interface HostDirectory {
  /** @throws {RemoteError} `remote-already-connected`, `too-many-remotes`, `shutting-down`, `backplane-unavailable` */
  connectUnprobed(description: RemoteDescription, provider: Provider): Soon<RemoteConnection>;
  disconnectConnection(connection: RemoteConnection, drain: boolean): Soon<void>;
  /** @throws {RemoteError} `backplane-unavailable` */
  list(userId: string): Soon<Iterable<{ readonly remotename: string; readonly tools: JsonText }>>;
}

/** What bounds the host program: its schemas, and what it sends, as everybody's. */
export type HostProgramLimits = ServedFunctionLimits & MessageBounds;

/** The host program's own way to the remotes: serve in this process, list, call, by the same road as sessions. */
export class HostProgram {
  constructor(
    private readonly directory: HostDirectory,
    private readonly calls: Calls,
    private readonly limits: HostProgramLimits,
    private readonly log: Logger,
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
    const idle = functions.find(({ handler }) => typeof handler !== 'function');
    if (idle !== undefined) throw new TypeError(`functions: '${idle.name}' has no handler`);
    const description = {
      userId,
      remotename,
      tools: JsonText.of(functions.map(specOf)),
      functions: compileFunctions(specs.data, this.limits).functions,
    };
    const connecting = this.directory.connectUnprobed(description, new HostProvider(functions, this.limits));
    if (connecting instanceof Promise) this.#logFailure(connecting, userId, remotename);
    const disconnect = ({ drain = false } = {}): void => {
      const disconnected = whenThere(connecting, (connection) =>
        this.directory.disconnectConnection(connection, drain),
      );
      if (disconnected instanceof Promise) disconnected.catch(() => undefined); // it never was connected
    };
    return {
      remotename,
      get connected() {
        return Promise.resolve(connecting).then(() => undefined);
      },
      disconnect,
      [Symbol.dispose]: () => disconnect(),
    };
  }

  /** Whoever does not wait for it finds in the log why there is no such remote. */
  #logFailure(connecting: Promise<unknown>, userId: string, remotename: string): void {
    connecting.catch((error: unknown) => {
      this.log.error({ err: error, userId, remotename }, 'remote of the host program not connected');
    });
  }

  /**
   * What is connected for a user, on any node, in order of connection.
   * @throws {RemoteError} `backplane-unavailable`
   */
  async listRemotes(userId: string): Promise<{ remotename: string; tools: FunctionSpec[] }[]> {
    return Array.from(await this.directory.list(userId), ({ remotename, tools }) => ({
      remotename,
      tools: functionSpecsIn(tools),
    }));
  }

  /**
   * Calls a function of a user's remote.
   * @throws {RemoteError} as a session would be told
   * @throws {TypeError} when a field has the wrong form
   * @throws what `onProgress` throws; the call is cancelled then
   */
  async call(call: HostCall): Promise<JsonValue> {
    if (call.signal?.aborted)
      throw new RemoteError('call-cancelled', 'the call was cancelled', { executed: 'no' });
    const request = this.#request(call);
    const { onProgress, signal } = call;
    const failures: unknown[] = [];
    const started = this.calls.start({
      ...request,
      ...(onProgress && {
        onProgress: (progress) => {
          try {
            onProgress(progress.parse());
          } catch (error) {
            failures.push(error);
            started.cancel('call-cancelled');
          }
        },
      }),
    });
    try {
      return (await untilAborted(started, signal)).parse();
    } catch (error) {
      throw failures.length > 0 ? failures[0] : error;
    }
  }

  /** @throws {TypeError} @throws {RemoteError} `message-too-large`, `malformed-message` */
  #request({ userId, remotename, function: name, args = {}, timeoutMs, ...trace }: HostCall): CallRequest {
    const times = timeoutMs !== undefined && { timeoutMs };
    const fields = { remotename, function: name, args, ...traceFields(trace), ...times };
    const parsed = hostCallSchema.safeParse(fields);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new TypeError(`${issue?.path.join('.') ?? 'call'}: ${issue?.message ?? 'does not fit'}`);
    }
    const json = JsonText.of(args);
    if (!json.text.startsWith('{')) throw new TypeError('args: expected a plain object');
    const excess = excessOf(json, this.limits);
    if (excess !== undefined) {
      const code = excess.of === 'length' ? 'message-too-large' : 'malformed-message';
      throw new RemoteError(code, `args are ${excess.text}`);
    }
    return {
      userId,
      remotename,
      functionName: name,
      args: json,
      ...times,
      ...(trace.traceparent === undefined ? activeTrace() : traceFields(parsed.data)),
    };
  }
}

function traceFields({ traceparent, tracestate }: TraceFields): TraceFields {
  return { traceparent, tracestate };
}

async function untilAborted(call: StartedCall, signal: AbortSignal | undefined): Promise<JsonText> {
  const cancel = (): void => call.cancel('call-cancelled');
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    return await call.result;
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

function specOf({ handler: _handler, ...spec }: HostFunction): FunctionSpec {
  return spec;
}

/** All of each spec, the fields that we do not know included. */
function functionSpecsIn(tools: JsonText): FunctionSpec[] {
  const specs: unknown = tools.parse();
  if (areFunctionSpecs(specs)) return specs;
  throw new TypeError('not function specs'); // they were checked when they were connected
}

function areFunctionSpecs(value: unknown): value is FunctionSpec[] {
  return functionSpecsSchema.safeParse(value).success;
}
