import type * as z from 'zod';
import type { JsonFields, JsonText } from '../json/json-text.js';
import type { MessageText } from '../json/message-text.js';
import type { Session } from './session.js';

/** One request of a session, beside its parsed message. */
export interface ActionRequest {
  readonly session: Session;
  readonly nonce: JsonText | undefined;
  /** The message as text, for the parts that are passed on as they were written. */
  readonly message: MessageText;
}

/** The fields of the reply, without its nonce; `undefined` for actions that are never answered. */
export type ActionReply = JsonFields | undefined;

/** What a session may ask for. */
export interface Action {
  readonly name: string;
  readonly schema: z.ZodType;
  /** Called with a message that fits the schema. */
  readonly handle: (message: unknown, request: ActionRequest) => ActionReply | Promise<ActionReply>;
}

/** A schema of one message of a session. */
type MessageSchema<M> = z.ZodType<M> & { readonly shape: { readonly action: z.ZodLiteral<string> } };

/**
 * Binds a message's schema to its handler. The handler neither parses, nor replies, nor catches: the dispatcher
 * does.
 */
export function defineAction<M>(
  schema: MessageSchema<M>,
  handler: (message: M, request: ActionRequest) => ActionReply | Promise<ActionReply>,
): Action {
  return {
    name: schema.shape.action.value,
    schema,
    // the dispatcher calls it with what `schema` returned, and with nothing else
    handle: (message, request) => handler(message as M, request),
  };
}
