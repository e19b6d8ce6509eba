import type { JsonObject } from '@remotes-hub/protocol';
import { CallInProgress } from './call-in-progress.js';
import { RemoteError, type Failure } from './errors.js';
import { failureText } from './failure-text.js';
import type { Outcome, ServedFunction } from './served-function.js';
import { asNumber, asString, encodeJson, frameProblem, isJsonObject } from './json-values.js';
import type { Line } from './line.js';

/** How many request ids are remembered at least, so that a call that is delivered again does not run again. */
const REMEMBERED_IDS = 4_096;

/** A remote as this session serves it. */
export interface Served {
  readonly remotename: string;
  readonly functions: ReadonlyMap<string, ServedFunction>;
  /** How long its calls outlive a lost connection, in milliseconds. */
  readonly resumeMs: number;
  /** Whether the hub has it connected now. */
  isConnected: boolean;
  /** Whether it is to be connected again with the next connection: nobody has disconnected it. */
  isWanted: boolean;
}

/** A forwarded call, parsed. */
interface ServedCall {
  readonly requestId: string;
  readonly remotename: string;
  readonly functionName: string;
  readonly args: JsonObject;
  readonly timeoutMs: number | undefined;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/** What this session serves, and the calls that run. Each call is answered once, or not at all when cancelled. */
export class Serving {
  /** In the order in which they were connected. */
  readonly #remotes = new Map<string, Served>();
  /** Sent in a `remote-connect` that is not answered yet. */
  readonly #connecting = new Map<string, Served>();
  #running = new Map<string, { call: ServedCall; context: CallInProgress }>();
  /** The latest request ids, and those before them. */
  #seen = new Set<string>();
  #seenBefore = this.#seen;
  /** Answers that were ready while there was no connection, by request id. */
  readonly #held = new Map<string, string>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  constructor(private readonly line: Line) {}

  /** Keeps a remote that is about to be connected; `false` when one of that name already is. */
  connecting(served: Served): boolean {
    if (this.#connecting.has(served.remotename)) return false;
    this.#connecting.set(served.remotename, served);
    return true;
  }

  /** The hub has connected it. */
  connected(served: Served): void {
    this.#connecting.delete(served.remotename);
    served.isConnected = served.isWanted = true;
    this.#remotes.set(served.remotename, served);
  }

  /** It is not connected: refused for good, or only for now. */
  refused(served: Served, isForNow: boolean): void {
    const { remotename } = served;
    if (this.#connecting.get(remotename) === served) this.#connecting.delete(remotename);
    if (!isForNow && this.#remotes.get(remotename) === served) this.#remotes.delete(remotename);
  }

  /** Whether it is to be served, now or as soon as there is a connection. */
  isServing(served: Served): boolean {
    return this.#remotes.get(served.remotename) === served && served.isWanted;
  }

  /** This session has disconnected the remote. Calls that run go on. */
  disconnected(remotename: string): void {
    this.disconnectedElsewhere(remotename);
    this.#remotes.delete(remotename);
  }

  /**
   * An event says that a remote of this name was disconnected. The functions stay: an event may be late, and
   * the name connected anew.
   */
  disconnectedElsewhere(remotename: string): void {
    const remote = this.#remotes.get(remotename);
    // to one that is not connected yet this is an event of its last connection
    if (!remote?.isConnected) return;
    remote.isConnected = remote.isWanted = false;
  }

  /** Takes a `remote-call` of the hub. One that was delivered before, or is malformed, is dropped. */
  called(message: JsonObject): void {
    const call = parseCall(message);
    if (call === undefined || this.#seen.has(call.requestId) || this.#seenBefore.has(call.requestId)) return;
    this.#remember(call.requestId);
    const context = new CallInProgress(call, (value) => this.#progress(call, value));
    this.#running.set(call.requestId, { call, context });
    void this.#run(call, context);
  }

  /** Takes a `remote-call-cancel` of the hub: nobody waits for the call any more. */
  cancelled({ requestId, reason }: JsonObject): void {
    if (typeof requestId !== 'string') return;
    const why = asString(reason) ?? 'call-cancelled';
    this.#abort(requestId, {
      code: why === 'caller-gone' ? 'call-cancelled' : why,
      message: `nobody waits for this call any more: ${why}`,
    });
  }

  /** The connection is lost: handlers are told, but for those whose answers can wait for the next connection. */
  lost(failure: Failure): void {
    for (const served of this.#remotes.values()) {
      if (!served.isWanted) this.#remotes.delete(served.remotename);
      served.isConnected = false;
      if (served.resumeMs > 0) this.#abortLater(served, failure);
    }
    for (const [requestId, { call }] of this.#running) {
      if ((this.#remotes.get(call.remotename)?.resumeMs ?? 0) === 0) this.#abort(requestId, failure);
    }
  }

  /**
   * There is a connection again.
   * @param isResumed the hub still waits for the answers to calls of the last one
   * @returns what is to be served again, in order
   */
  reconnected(isResumed: boolean): readonly Served[] {
    this.#endTimers();
    if (isResumed) for (const frame of this.#held.values()) this.line.send(frame);
    else this.#forgetCalls({ code: 'connection-lost', message: 'the hub no longer waits for this call' });
    this.#held.clear();
    return [...this.#remotes.values()];
  }

  /** The session has ended: every handler is told, nothing is kept. */
  ended(failure: Failure): void {
    this.#endTimers();
    this.#forgetCalls(failure);
    for (const served of this.#remotes.values()) served.isConnected = served.isWanted = false;
    this.#remotes.clear();
    this.#connecting.clear();
  }

  /** A hub that knows nothing of earlier calls counts their ids anew. */
  #forgetCalls(failure: Failure): void {
    for (const requestId of this.#running.keys()) this.#abort(requestId, failure);
    this.#seen = this.#seenBefore = new Set();
    this.#held.clear();
  }

  #abortLater({ remotename, resumeMs }: Served, failure: Failure): void {
    this.later(resumeMs, () => {
      for (const [requestId, { call }] of this.#running) {
        if (call.remotename === remotename) this.#abort(requestId, failure);
      }
    });
  }

  /** Does something so many milliseconds later, unless there is another connection by then. */
  later(ms: number, task: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      task();
    }, ms);
    this.#timers.add(timer);
  }

  #endTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #send(requestId: string, frame: string): void {
    if (!this.line.send(frame) && this.line.ending === undefined) this.#held.set(requestId, frame);
  }

  #remember(requestId: string): void {
    if (this.#seen.size === REMEMBERED_IDS) {
      this.#seenBefore = this.#seen;
      this.#seen = new Set();
      // V8 would keep all that goes through one map, from one full collection to the next
      this.#running = new Map(this.#running);
    }
    this.#seen.add(requestId);
  }

  #abort(requestId: string, failure: Failure): void {
    const running = this.#running.get(requestId);
    if (running === undefined) return;
    this.#running.delete(requestId);
    const { remotename, functionName } = running.call;
    running.context.abort(new RemoteError({ ...failure, requestId }, remotename, functionName));
  }

  /** Whether it still has to be answered. Another hub may have given its id to another call. */
  #isRunning(call: ServedCall): boolean {
    return this.#running.get(call.requestId)?.call === call;
  }

  /** Never rejects. */
  async #run(call: ServedCall, context: CallInProgress): Promise<void> {
    const prepared = await this.#prepare(call, context);
    if (!this.#isRunning(call)) return; // cancelled before the handler could begin
    if ('refusal' in prepared) return this.#answerError(call, prepared.refusal, 'no');
    try {
      this.#answerResult(call, await prepared.call());
    } catch (thrown) {
      this.#answerError(call, failureText(thrown), 'yes');
    }
  }

  #prepare(call: ServedCall, context: CallInProgress): Outcome | Promise<Outcome> {
    const { remotename, functionName, args } = call;
    const { functions } = this.#remotes.get(remotename) ?? this.#connecting.get(remotename) ?? {};
    if (functions === undefined) return { refusal: `this session does not serve '${remotename}'` };
    const served = functions.get(functionName);
    if (served === undefined) return { refusal: `remote '${remotename}' has no function '${functionName}'` };
    const refuse = (thrown: unknown): Outcome => ({
      refusal: `arguments of ${functionName} could not be checked: ${failureText(thrown)}`,
    });
    try {
      const outcome = served.prepare(args, context);
      return outcome instanceof Promise ? outcome.catch(refuse) : outcome;
    } catch (thrown) {
      return refuse(thrown);
    }
  }

  #progress(call: ServedCall, value: unknown): void {
    if (this.#isRunning(call)) this.line.send(this.#encode('progress', call, value));
  }

  /** @throws {TypeError | RangeError} the result cannot be sent */
  #answerResult(call: ServedCall, result: unknown): void {
    if (!this.#isRunning(call)) return;
    const frame = this.#encode('result', call, result);
    this.#running.delete(call.requestId);
    this.#send(call.requestId, frame);
  }

  #encode(kind: 'progress' | 'result', { requestId }: ServedCall, value: unknown): string {
    const { text, isShallow } = encodeJson(value, `the ${kind}`);
    const frame = `{"action":"remote-call-${kind}","requestId":${JSON.stringify(requestId)},"${kind}":${text}}`;
    const problem = frameProblem(frame, this.line.maxMessageBytes, isShallow);
    if (problem !== undefined) throw new RangeError(`the ${kind} ${problem.text}`);
    return frame;
  }

  #answerError(call: ServedCall, error: string, executed: 'no' | 'yes'): void {
    if (!this.#isRunning(call)) return;
    const { requestId } = call;
    this.#running.delete(requestId);
    const frame = errorFrame(requestId, error, executed);
    const fits = frameProblem(frame, this.line.maxMessageBytes, true) === undefined;
    this.#send(requestId, fits ? frame : errorFrame(requestId, error.slice(0, 100), executed));
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
  traceparent,
  tracestate,
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
    timeoutMs: asNumber(timeoutMs),
    traceparent: asString(traceparent),
    tracestate: asString(tracestate),
  };
}
