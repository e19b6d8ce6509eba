import type { JsonObject } from '@remotes-hub/protocol';
import { errorCodes } from '@remotes-hub/protocol/error-codes';
import type { Connection } from './connection.js';
import { RemoteError, type Failure } from './errors.js';
import { failureText } from './failure-text.js';
import type { CallContext, Outcome, ServedFunction } from './functions.js';
import { encodeJson, frameProblem, isJsonObject } from './json-values.js';

/** How many request ids are remembered, so that a call that is delivered again does not run again. */
const REMEMBERED_IDS = 4_096;

type Functions = ReadonlyMap<string, ServedFunction>;

/** A forwarded call, parsed. */
interface ServedCall {
  readonly requestId: string;
  readonly remotename: string;
  readonly functionName: string;
  readonly args: JsonObject;
  readonly timeoutMs: number | undefined;
}

/** What this session serves, and the calls that run. Each call is answered once, or not at all when cancelled. */
export class Serving {
  readonly #remotes = new Map<string, { readonly functions: Functions; isConnected: boolean }>();
  /** Sent in a `remote-connect` that is not answered yet. */
  readonly #connecting = new Map<string, Functions>();
  readonly #running = new Map<string, { call: ServedCall; controller: AbortController }>();
  readonly #seen = new Set<string>();

  constructor(private readonly connection: Connection) {}

  /** Keeps the functions of a remote that is about to be connected; `false` when one of that name already is. */
  connecting(remotename: string, functions: Functions): boolean {
    if (this.#connecting.has(remotename)) return false;
    this.#connecting.set(remotename, functions);
    return true;
  }

  /** The hub has connected it, or refused. */
  connected(remotename: string, isConnected: boolean): void {
    const functions = this.#connecting.get(remotename);
    this.#connecting.delete(remotename);
    if (isConnected && functions !== undefined) this.#remotes.set(remotename, { functions, isConnected });
  }

  /** Whether these very functions are still served under this name. */
  isServing(remotename: string, functions: Functions): boolean {
    const remote = this.#remotes.get(remotename);
    return remote !== undefined && remote.functions === functions && remote.isConnected;
  }

  /** This session has disconnected the remote. Calls that run go on. */
  disconnected(remotename: string): void {
    this.#remotes.delete(remotename);
  }

  /**
   * An event says that a remote of this name was disconnected. The functions stay: an event may be late, and
   * the name connected anew.
   */
  disconnectedElsewhere(remotename: string): void {
    const remote = this.#remotes.get(remotename);
    if (remote !== undefined) remote.isConnected = false;
  }

  /** Takes a `remote-call` of the hub. One that was delivered before, or is malformed, is dropped. */
  called(message: JsonObject): void {
    const call = parseCall(message);
    if (call === undefined || this.#seen.has(call.requestId)) return;
    this.#remember(call.requestId);
    const controller = new AbortController();
    this.#running.set(call.requestId, { call, controller });
    void this.#run(call, controller.signal);
  }

  /** Takes a `remote-call-cancel` of the hub: nobody waits for the call any more. */
  cancelled({ requestId, reason }: JsonObject): void {
    if (typeof requestId !== 'string') return;
    const why = typeof reason === 'string' ? reason : 'call-cancelled';
    this.#abort(requestId, {
      code: errorCodes.find((code) => code === why) ?? 'call-cancelled', // "caller-gone" is no error code
      message: `nobody waits for this call any more: ${why}`,
    });
  }

  /** The connection has ended: every handler is told, nothing is kept. */
  ended(failure: Failure): void {
    for (const requestId of this.#running.keys()) this.#abort(requestId, failure);
    this.#remotes.clear();
    this.#connecting.clear();
    this.#seen.clear();
  }

  #remember(requestId: string): void {
    this.#seen.add(requestId);
    const [oldest] = this.#seen;
    if (this.#seen.size > REMEMBERED_IDS && oldest !== undefined) this.#seen.delete(oldest);
  }

  #abort(requestId: string, failure: Failure): void {
    const running = this.#running.get(requestId);
    if (running === undefined) return;
    this.#running.delete(requestId);
    const { remotename, functionName } = running.call;
    running.controller.abort(new RemoteError(failure, remotename, functionName));
  }

  /** Never rejects. */
  async #run(call: ServedCall, signal: AbortSignal): Promise<void> {
    const prepared = await this.#prepare(call, signal);
    if (!this.#running.has(call.requestId)) return; // cancelled before the handler could begin
    if ('refusal' in prepared) return this.#answerError(call, prepared.refusal, 'no');
    try {
      this.#answerResult(call, await prepared.call());
    } catch (thrown) {
      this.#answerError(call, failureText(thrown), 'yes');
    }
  }

  async #prepare(call: ServedCall, signal: AbortSignal): Promise<Outcome> {
    const { remotename, functionName, args } = call;
    const functions = this.#remotes.get(remotename)?.functions ?? this.#connecting.get(remotename);
    if (functions === undefined) return { refusal: `this session does not serve '${remotename}'` };
    const served = functions.get(functionName);
    if (served === undefined) return { refusal: `remote '${remotename}' has no function '${functionName}'` };
    try {
      return await served.prepare(args, this.#context(call, signal));
    } catch (thrown) {
      return { refusal: `arguments of ${functionName} could not be checked: ${failureText(thrown)}` };
    }
  }

  #context({ requestId, timeoutMs }: ServedCall, signal: AbortSignal): CallContext {
    return { signal, requestId, timeoutMs, progress: (value) => this.#progress(requestId, value) };
  }

  #progress(requestId: string, value: unknown): void {
    const progress = encodeJson(value, 'the progress');
    if (!this.#running.has(requestId)) return;
    const frame = `{"action":"remote-call-progress","requestId":${JSON.stringify(requestId)},"progress":${progress}}`;
    const problem = frameProblem(frame, this.connection.maxMessageBytes);
    if (problem !== undefined) throw new TypeError(`the progress ${problem.text}`);
    this.connection.send(frame);
  }

  /** @throws {TypeError | RangeError} the result cannot be sent */
  #answerResult(call: ServedCall, result: unknown): void {
    if (!this.#running.has(call.requestId)) return;
    const text = encodeJson(result, 'the result');
    const frame = `{"action":"remote-call-result","requestId":${JSON.stringify(call.requestId)},"result":${text}}`;
    const problem = frameProblem(frame, this.connection.maxMessageBytes);
    if (problem !== undefined) throw new RangeError(`the result ${problem.text}`);
    this.#running.delete(call.requestId);
    this.connection.send(frame);
  }

  #answerError({ requestId }: ServedCall, error: string, executed: 'no' | 'yes'): void {
    if (!this.#running.delete(requestId)) return;
    const frame = errorFrame(requestId, error, executed);
    const fits = frameProblem(frame, this.connection.maxMessageBytes) === undefined;
    this.connection.send(fits ? frame : errorFrame(requestId, error.slice(0, 100), executed));
  }
}

function errorFrame(requestId: string, error: string, executed: 'no' | 'yes'): string {
  return JSON.stringify({ action: 'remote-call-result', requestId, error, executed });
}

/** The remote's name is all before the last `#`: it may hold `#` itself, the number after it does not. */
function parseCall({
  requestId,
  function: functionName,
  args,
  timeoutMs,
}: JsonObject): ServedCall | undefined {
  if (typeof requestId !== 'string' || typeof functionName !== 'string' || !isJsonObject(args))
    return undefined;
  const end = requestId.lastIndexOf('#');
  if (end < 1) return undefined;
  return {
    requestId,
    remotename: requestId.slice(0, end),
    functionName,
    args,
    timeoutMs: typeof timeoutMs === 'number' ? timeoutMs : undefined,
  };
}
