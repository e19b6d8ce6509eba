import {
  jsonObjectSchema,
  type CancelReason,
  type FunctionSpec,
  type JsonObject,
} from '@remotes-hub/protocol';
import { JsonText } from '../json/json-text.js';
import { PendingCalls, type PendingCall } from './pending-calls.js';
import type { ForwardedCall, Provider } from './provider.js';
import { RemoteError } from './remote-error.js';
import { RequestIds } from './request-ids.js';
import { functionFailed } from './session-provider.js';

/** What a function of the host program gets beside its arguments. */
export interface HostCallContext {
  /** Aborted when nobody waits for the result any more; its reason is a `RemoteError` or a word of the wire. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** Time for an answer, in milliseconds. */
  readonly timeoutMs: number;
  /** Tells the caller how far the call is, and starts its deadline anew. */
  progress(value: unknown): void;
}

/** A function that the host program serves itself. */
export interface HostFunction extends FunctionSpec {
  /** Whatever it returns is the result, `undefined` is `null`; whatever it throws is the call's error. */
  readonly handler: (args: JsonObject, context: HostCallContext) => unknown;
}

/** The host program as a provider: its functions run in this process. */
export class HostProvider implements Provider {
  readonly pending = new PendingCalls();
  readonly #requestIds = new RequestIds();
  readonly #running = new Map<PendingCall, AbortController>();
  readonly #functions: ReadonlyMap<string, HostFunction>;

  constructor(functions: readonly HostFunction[]) {
    this.#functions = new Map(functions.map((served) => [served.name, served]));
  }

  nextRequestId(remotename: string): string {
    return this.#requestIds.next(remotename);
  }

  forward(call: ForwardedCall): void {
    const { pending } = call;
    const controller = new AbortController();
    this.#running.set(pending, controller);
    this.#run(call, controller.signal)
      .then(
        (result) => pending.resolve(result),
        (error: unknown) =>
          pending.fail(error instanceof RemoteError ? error : functionFailed(textOf(error), undefined)),
      )
      .finally(() => this.#running.delete(pending));
  }

  withdraw(pending: PendingCall, reason: CancelReason): void {
    this.#running.get(pending)?.abort(reason);
  }

  /** It lives as long as the hub does. */
  async probe(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async #run(
    { pending, functionName, args, timeoutMs }: ForwardedCall,
    signal: AbortSignal,
  ): Promise<JsonText> {
    await Promise.resolve(); // a handler never runs before its caller has the call in hand
    const context: HostCallContext = {
      signal,
      requestId: pending.requestId,
      timeoutMs,
      progress: (value) => pending.progress(encode(value, 'progress')),
    };
    // parsed anew: the handler may keep it or change it
    const result = await this.#functions
      .get(functionName)
      ?.handler(jsonObjectSchema.parse(args.parse()), context);
    return encode(result, 'result');
  }
}

/** A value of the host program as JSON. @throws {RemoteError} `function-failed` when JSON cannot hold it */
function encode(value: unknown, what: string): JsonText {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new RemoteError('function-failed', `the ${what} is no JSON: ${textOf(cause)}`.slice(0, 300), {
      cause,
    });
  }
  if (text !== undefined) return new JsonText(text);
  if (value === undefined) return new JsonText('null');
  throw new RemoteError('function-failed', `the ${what} is no JSON: a ${typeof value}`);
}

/** A sentence for the caller; never a stack. */
function textOf(error: unknown): string {
  try {
    if (error instanceof Error) return error.message;
    return typeof error === 'string' ? error : (JSON.stringify(error) ?? '');
  } catch {
    return '';
  }
}
