import { splice, writeJson, type JsonFields, type JsonText } from '../json/json-text.js';
import { failureFields } from './error-replies.js';
import type { Session } from './session.js';

/** Told of a request that failed, before its reply is sent. */
export type OnFailure = (error: unknown, request: ActionRequest) => void;

/** One request of a session, and the way back to it: its reply has the nonce as it was written, if there was one. */
export class ActionRequest {
  constructor(
    readonly action: string,
    readonly session: Session,
    readonly nonce: JsonText | undefined,
    private readonly onFailure: OnFailure,
  ) {}

  reply(fields: JsonFields): void {
    this.session.send(writeJson(fields, this.nonce));
  }

  /** Replies with the result of a call. */
  answer(result: JsonText): void {
    const { nonce } = this;
    this.session.send(splice('{"result":', result, nonce === undefined ? '}' : `,"nonce":${nonce.text}}`));
  }

  /** Replies with what went wrong. */
  refuse(error: unknown): void {
    this.onFailure(error, this);
    this.reply(failureFields(error, this.action === 'remote-call'));
  }
}
