import type { JsonText } from '../json/json-text.js';
import type { TraceSpan } from '../observability/tracing.js';
import type { CallObserver, PendingCall } from '../remotes/pending-calls.js';
import type { RemoteConnection } from '../remotes/remote-connection.js';
import { RemoteError } from '../remotes/remote-error.js';
import { notConnected, type RemoteRegistry } from '../remotes/remote-registry.js';
import type { ServedFunction } from '../remotes/served-functions.js';
import type { CallListener, CallRequest, CallerReason, TrackedCall } from './call-request.js';
import type { CallTelemetry } from './call-telemetry.js';

/** What of a call its caller's node watches. */
export interface WatchedCall {
  readonly observer?: CallObserver | undefined;
  /** Where somebody traces. */
  readonly span?: TraceSpan | undefined;
}

/** The way to the remotes of other nodes. */
export interface CallsElsewhere {
  /** Starts a call of a remote that this node does not have; never throws. */
  start(request: CallRequest, watched: WatchedCall): TrackedCall;
}

/**
 * The one road of every call, whoever asks: resolve, validate, dispatch. No call to a function takes another,
 * so every check here holds for sessions, runs, the host program and other nodes alike.
 */
export class Calls {
  #isClosed = false;

  /** @param elsewhere absent on one node alone */
  constructor(
    private readonly registry: Pick<RemoteRegistry, 'find'>,
    private readonly telemetry: CallTelemetry,
    private readonly elsewhere?: CallsElsewhere,
  ) {}

  /** Starts a call. Never throws: a call that is refused is one whose `result` rejects. */
  start(request: CallRequest): TrackedCall {
    const { telemetry, elsewhere } = this;
    const span = telemetry.started(request);
    try {
      const call = this.#dispatchHere(request, telemetry, span);
      if (call !== undefined) return call;
      if (elsewhere !== undefined) return elsewhere.start(request, { observer: telemetry, span });
      throw notConnected(request.remotename);
    } catch (error) {
      const refusal = refusalOf(error);
      telemetry.refused(request, refusal, span);
      return new RefusedCall(refusal);
    }
  }

  /**
   * The same for another node, of a remote of this one; `undefined` when it has none of this name. The call is counted
   * and traced there, by the node of its caller.
   */
  startHere(request: CallRequest): TrackedCall | undefined {
    try {
      return this.#dispatchHere(request, undefined, undefined);
    } catch (error) {
      return new RefusedCall(refusalOf(error));
    }
  }

  /** Refuses every call from now on, with `shutting-down`. */
  close(): void {
    this.#isClosed = true;
  }

  #dispatchHere(
    request: CallRequest,
    observer: CallObserver | undefined,
    span: TraceSpan | undefined,
  ): TrackedCall | undefined {
    if (this.#isClosed) throw new RemoteError('shutting-down', 'the hub is shutting down');
    const connection = this.registry.find(request.userId, request.remotename);
    return connection && dispatch(connection, request, observer, span);
  }
}

function dispatch(
  connection: RemoteConnection,
  request: CallRequest,
  observer: CallObserver | undefined,
  span: TraceSpan | undefined,
): TrackedCall {
  const { remotename, functionName, args, timeoutMs, onProgress } = request;
  const served = connection.functions.get(functionName);
  if (served === undefined) {
    throw new RemoteError('function-not-found', `remote '${remotename}' has no function '${functionName}'`);
  }
  checkArguments(served, request);
  const trace = span ?? request;
  const isChecked = served.result !== undefined;
  const told = isChecked ? undefined : observer; // how a call ended whose result is checked, that check decides
  const call = connection.start({ served, args, timeoutMs, onProgress, trace, span, observer: told });
  return isChecked ? new CheckedCall(call, served, observer) : call;
}

function checkArguments(served: ServedFunction, request: CallRequest): void {
  if (served.parameters === undefined || served.parameters.bytes === request.argsReadBy) return;
  const failure = served.parameters.validate(request.parsedArgs ?? request.args.parse());
  if (failure === undefined) return;
  const place = failure.path === '' ? '' : `${failure.path}: `;
  throw new RemoteError('invalid-arguments', `arguments of ${served.spec.name}: ${place}${failure.message}`);
}

/** A call whose result is a failure unless it fits the function's schema. */
class CheckedCall implements TrackedCall {
  constructor(
    private readonly call: PendingCall,
    private readonly served: ServedFunction,
    private readonly observer: CallObserver | undefined,
  ) {}

  get isOver(): boolean {
    return this.call.isOver;
  }

  get requestId(): string {
    return this.call.requestId;
  }

  get result(): Promise<JsonText> {
    return new Promise((resolve, reject) => this.whenOver({ resolve, reject }));
  }

  whenOver(listener: CallListener): void {
    this.call.whenOver({
      resolve: (result) => {
        const failure = this.#failureOf(result);
        this.observer?.callEnded(this.call, failure ?? result);
        if (failure === undefined) listener.resolve(result);
        else listener.reject(failure);
      },
      reject: (error) => {
        this.observer?.callEnded(this.call, error);
        listener.reject(error);
      },
    });
  }

  cancel(reason: CallerReason): void {
    this.call.cancel(reason);
  }

  #failureOf(result: JsonText): RemoteError | undefined {
    const { spec, result: schema } = this.served;
    const failure = schema?.validate(result.parse());
    if (failure === undefined) return undefined;
    const place = failure.path === '' ? '' : `${failure.path}: `;
    const error = new RemoteError('invalid-result', `result of ${spec.name}: ${place}${failure.message}`);
    error.requestId = this.call.requestId;
    return error;
  }
}

function refusalOf(error: unknown): RemoteError {
  return error instanceof RemoteError ? error : internalError(error);
}

function internalError(cause: unknown): RemoteError {
  return new RemoteError('internal-error', 'the hub failed to make this call', { cause, executed: 'no' });
}

/** A call that was refused before it reached anybody. */
class RefusedCall implements TrackedCall {
  readonly isOver = true;

  constructor(private readonly error: RemoteError) {}

  get result(): Promise<JsonText> {
    return Promise.reject(this.error);
  }

  whenOver(listener: CallListener): void {
    queueMicrotask(() => listener.reject(this.error));
  }

  cancel(): void {
    // it has ended already
  }
}
