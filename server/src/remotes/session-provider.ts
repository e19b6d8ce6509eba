import type { CancelReason, RemoteCallProgress, RemoteCallResult } from '@remotes-hub/protocol';
import { JsonText, writeJson } from '../json/json-text.js';
import type { MessageText } from '../json/message-text.js';
import { functionFailed } from './function-failure.js';
import { PendingCalls, type PendingCall } from './pending-calls.js';
import type { ForwardedCall, Provider } from './provider.js';
import { RemoteError } from './remote-error.js';
import { RequestIds } from './request-ids.js';

const NULL = new JsonText('null');

/** A session, as far as its remotes need it. */
export interface ServingSession {
  readonly speaksV1: boolean;
  /** Why it ended, where those who wait for it should know. */
  readonly endCause: string | undefined;
  send(text: string): void;
  /** Asks for a sign of life; false when there was none, and the session has ended. */
  probe(): Promise<boolean>;
}

/** A session as a provider: its calls leave as frames, and only its own frames answer them. */
export class SessionProvider implements Provider, Disposable {
  readonly pending = new PendingCalls();
  readonly #requestIds = new RequestIds();

  /** @param onEnd disconnects the session's remotes */
  constructor(
    private readonly session: ServingSession,
    private readonly onEnd: (provider: SessionProvider, cause: string | undefined) => void,
  ) {}

  nextRequestId(remotename: string): string {
    return this.#requestIds.next(remotename);
  }

  /** Sends the seed's four fields; with remotes.v1 the time left too. */
  forward({ pending, functionName, args, timeoutMs }: ForwardedCall): void {
    const { session } = this;
    const seedFields = { action: 'remote-call', requestId: pending.requestId, function: functionName, args };
    session.send(writeJson(session.speaksV1 ? { ...seedFields, timeoutMs } : seedFields));
  }

  withdraw({ requestId }: PendingCall, reason: CancelReason): void {
    if (this.session.speaksV1)
      this.session.send(writeJson({ action: 'remote-call-cancel', requestId, reason }));
  }

  probe(): Promise<boolean> {
    return this.session.probe();
  }

  /** Settles the call that this session was asked for. False when it has no such call. */
  answer(answer: RemoteCallResult, message: MessageText): boolean {
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
  progress({ requestId }: RemoteCallProgress, message: MessageText): boolean {
    const pending = this.#find(requestId);
    pending?.progress(message.member('progress') ?? NULL);
    return pending !== undefined;
  }

  #find(requestId: unknown): PendingCall | undefined {
    return typeof requestId === 'string' ? this.pending.find(requestId) : undefined;
  }

  [Symbol.dispose](): void {
    this.onEnd(this, this.session.endCause);
  }
}
