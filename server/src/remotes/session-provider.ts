import type { CancelReason, RemoteCallProgress, RemoteCallResult } from '@remotes-hub/protocol';
import { JsonText, splice, writeJson } from '../json/json-text.js';
import type { WrittenMessage } from '../json/written-message.js';
import { traceText } from '../observability/trace-context.js';
import { functionFailed } from './function-failure.js';
import { PendingCalls, type PendingCall } from './pending-calls.js';
import type { ForwardedCall, Provider } from './provider.js';
import { RemoteError } from './remote-error.js';
import { RequestIds } from './request-ids.js';
import type { ServingSession } from './serving-session.js';

const NULL = new JsonText('null');

/**
 * A session as a provider: its calls leave as frames, and only its own frames answer them. It may outlive its
 * session while calls wait for the same instance to come back, which then takes its place: the calls and their
 * numbers are the same ones.
 */
export class SessionProvider implements Provider {
  readonly pending = new PendingCalls();
  readonly #requestIds = new RequestIds();
  /** Calls that ended while nobody could be told. */
  readonly #withdrawn = new Map<string, CancelReason>();
  #session: ServingSession;
  #isSuspended = false;

  /** @param onForgotten told when none of its remotes is left */
  constructor(
    session: ServingSession,
    private readonly onForgotten: (provider: SessionProvider) => void,
  ) {
    this.#session = session;
  }

  nextRequestId(remotename: string): string {
    return this.#requestIds.next(remotename);
  }

  /** Above every number of its calls. */
  get requestCeiling(): number {
    return this.#requestIds.ceiling;
  }

  /** No call of it gets a number below this: its instance was asked with them on another node. */
  numberFrom(floor: number): void {
    this.#requestIds.raiseTo(floor);
  }

  /** Sends the seed's four fields; with remotes.v1 the time left too, and where the call belongs in a trace. */
  forward({ pending, functionName, args, timeoutMs, trace }: ForwardedCall): void {
    const session = this.#session;
    const id = JSON.stringify(pending.requestId);
    const name = JSON.stringify(functionName);
    // written by hand: one of the four messages of every call
    const before = `{"action":"remote-call","requestId":${id},"function":${name},"args":`;
    const after = session.speaksV1 ? `,"timeoutMs":${timeoutMs}${traceText(trace)}}` : '}';
    session.send(splice(before, args, after));
  }

  withdraw({ requestId }: PendingCall, reason: CancelReason): void {
    if (this.#isSuspended) this.#withdrawn.set(requestId, reason);
    else this.#sendCancel(requestId, reason);
  }

  #sendCancel(requestId: string, reason: CancelReason): void {
    const session = this.#session;
    if (session.speaksV1) session.send(writeJson({ action: 'remote-call-cancel', requestId, reason }));
  }

  probe(): Promise<boolean> {
    return this.#session.probe();
  }

  forgotten(): void {
    this.onForgotten(this);
  }

  /** Its session has gone, and calls wait for the next one of its instance. */
  suspend(): void {
    this.#isSuspended = true;
  }

  /** The next session of its instance takes its place, and is told of the calls that have ended meanwhile. */
  resume(session: ServingSession): void {
    this.#session = session;
    this.#isSuspended = false;
    process.nextTick(() => this.#tellWithdrawn()); // never before the reply to the login
  }

  #tellWithdrawn(): void {
    if (this.#isSuspended) return; // lost once more: the next session is told
    for (const [requestId, reason] of this.#withdrawn) this.#sendCancel(requestId, reason);
    this.#withdrawn.clear();
  }

  /** Settles the call that this session was asked for. False when it has no such call. */
  answer(answer: RemoteCallResult, message: WrittenMessage): boolean {
    const pending = this.#find(answer.requestId);
    if (pending === undefined) return false;
    if (answer.error == null) pending.resolve(message.member('result') ?? NULL);
    else pending.fail(functionFailed(answer.error, answer.executed));
    return true;
  }

  /** Fails a call whose answer cannot be read. */
  refuseAnswer(requestId: string, message: string): boolean {
    const pending = this.#find(requestId);
    pending?.fail(new RemoteError('invalid-result', message));
    return pending !== undefined;
  }

  /** Passes on that a call of this session is alive. False when it has no such call. */
  progress({ requestId }: RemoteCallProgress, message: WrittenMessage): boolean {
    const pending = this.#find(requestId);
    pending?.progress(message.member('progress') ?? NULL);
    return pending !== undefined;
  }

  #find(requestId: unknown): PendingCall | undefined {
    return typeof requestId === 'string' ? this.pending.find(requestId) : undefined;
  }
}
