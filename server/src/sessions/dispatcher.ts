import type { Logger } from '../observability/logger.js';
import { writeJson, type JsonFields, type JsonText } from '../json/json-text.js';
import { RemoteError } from '../remotes/remote-error.js';
import { AuthenticationError } from '../authentication/authenticate.js';
import { MessageText } from '../json/message-text.js';
import type { WrittenMessage } from '../json/written-message.js';
import type { FindArgumentsReader, ValueReader } from '../json/value-reader.js';
import { ActionRequest } from './action-request.js';
import type { Action, ActionReply, Handle } from './define-action.js';
import { EnvelopeError, isUnanswered, readEnvelope, type Envelope } from './envelope.js';
import { describeIssues, errorFields, failureFields } from './error-replies.js';
import type { Session } from './session.js';

/** What the dispatcher needs. */
export interface DispatcherOptions {
  readonly actions: readonly Action[];
  readonly maxDepth: number;
  /** Reads messages that are written as usual, at once as their actions want them. */
  readonly readUsual: (frame: Buffer, findReader: FindArgumentsReader) => WrittenMessage | undefined;
  /** What reads the arguments of a call of a function of one of the user's remotes, where something must. */
  readonly findArgumentsReader: (
    userId: string,
    ...names: Parameters<FindArgumentsReader>
  ) => ValueReader | undefined;
  /** An answer that is nested too deep to be read: its call fails. */
  readonly onUnreadableAnswer: (session: Session, requestId: string) => void;
  readonly log: Logger;
}

/**
 * From a frame to an action and back: reads the envelope, checks the message, calls the handler, sends its
 * reply with the nonce. Here alone, errors become replies. Messages are handled in the order they come; a reply
 * that must wait holds up no later one.
 */
export class Dispatcher {
  readonly #actions: ReadonlyMap<string, Action>;
  /** Those that recognise their messages, by the JSON of their names. */
  readonly #recognising: ReadonlyMap<string, Action>;
  readonly #options: DispatcherOptions;
  #ignored = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#actions = new Map(options.actions.map((action) => [action.name, action]));
    this.#recognising = new Map(
      options.actions
        .filter(({ recognise }) => recognise !== undefined)
        .map((action) => [JSON.stringify(action.name), action]),
    );
  }

  /** Messages that were dropped without an answer, as the wire says. */
  get ignored(): number {
    return this.#ignored;
  }

  /** Takes a text frame of a session, checked to be UTF-8. */
  dispatch(session: Session, frame: Buffer): void {
    if (!session.isOpen || session.closeIfExpired()) return;
    const { maxDepth, readUsual, findArgumentsReader } = this.#options;
    const findReader: FindArgumentsReader = (remotename, functionName) =>
      findArgumentsReader(session.userId, remotename, functionName);
    try {
      const usual = readUsual(frame, findReader);
      if (usual !== undefined && this.#recognised(session, usual)) return;
      const message = MessageText.read(frame, findReader);
      if (message !== undefined && this.#recognised(session, message)) return;
      this.#handle(session, readEnvelope(frame, maxDepth, message));
    } catch (error) {
      this.#refuseFrame(session, error);
    }
  }

  /** Counts a message that is dropped without an answer. */
  ignore(): void {
    this.#ignored += 1;
  }

  /** Handles a message that its action recognises; false when there is none that does. */
  #recognised(session: Session, message: WrittenMessage): boolean {
    if (!message.isWellFormed || message.depth > this.#options.maxDepth) return false;
    const action = this.#recognising.get(message.member('action')?.text ?? '');
    const handle = action?.recognise?.(message);
    if (action === undefined || handle === undefined) return false;
    this.#run(handle, this.#request(action.name, session, message.member('nonce')), message);
    return true;
  }

  #request(action: string, session: Session, nonce: JsonText | undefined): ActionRequest {
    return new ActionRequest(action, session, nonce, this.#logFailure);
  }

  #handle(session: Session, envelope: Envelope): void {
    const { action: name, nonce, message } = envelope;
    const action = this.#actions.get(name);
    if (action === undefined) {
      return reply(session, errorFields('unknown-action', `unknown action '${name.slice(0, 64)}'`), nonce);
    }
    const read = action.read(envelope.value);
    if ('handle' in read) return this.#run(read.handle, this.#request(name, session, nonce), message);
    if (isUnanswered(name)) return this.ignore();
    const fields = errorFields('invalid-body', describeIssues(read.issues));
    reply(session, isCall(name) ? { ...fields, executed: 'no', retryable: false } : fields, nonce);
  }

  #run(handle: Handle, request: ActionRequest, message: WrittenMessage): void {
    let result: ActionReply | Promise<ActionReply>;
    try {
      result = handle(request, message);
    } catch (error) {
      return request.refuse(error);
    }
    if (result instanceof Promise) this.#replyLater(result, request);
    else if (result !== undefined) request.reply(result);
  }

  #replyLater(result: Promise<ActionReply>, request: ActionRequest): void {
    result
      .then(
        (fields) => fields && request.reply(fields),
        (error: unknown) => request.refuse(error),
      )
      .catch((error: unknown) => {
        const { action, session } = request;
        this.#options.log.error({ err: error, action, ...idsOf(session) }, 'reply failed');
      });
  }

  #refuseFrame(session: Session, error: unknown): void {
    if (!(error instanceof EnvelopeError)) {
      this.#options.log.error({ err: error, ...idsOf(session) }, 'message failed');
      return reply(session, failureFields(error, false), undefined);
    }
    if (error.requestId !== undefined) return this.#options.onUnreadableAnswer(session, error.requestId);
    if (isUnanswered(error.action)) return this.ignore();
    reply(session, failureFields(error, isCall(error.action)), error.nonce);
  }

  readonly #logFailure = (error: unknown, { action, session }: ActionRequest): void => {
    // errors of Node and of libraries have a `code` too
    const isRefusal = error instanceof RemoteError || error instanceof AuthenticationError;
    if (isRefusal && error.code !== 'internal-error') return;
    const cause: unknown = error instanceof RemoteError ? (error.cause ?? error) : error;
    const requestId = error instanceof RemoteError ? error.requestId : undefined;
    this.#options.log.error({ err: cause, action, ...idsOf(session), requestId }, 'action failed');
  };
}

/** Whom a log line is about. */
function idsOf({ userId, id: sessionId }: Session): object {
  return { userId, sessionId };
}

function isCall(action: string | undefined): boolean {
  return action === 'remote-call';
}

/** Sends a reply; with the request's nonce, as it was written, when there was one. */
export function reply(
  peer: { send(text: string): void },
  fields: JsonFields | undefined,
  nonce: JsonText | undefined,
): void {
  if (fields !== undefined) peer.send(writeJson(fields, nonce));
}
