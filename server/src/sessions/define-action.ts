import type { JsonObject } from '@remotes-hub/protocol';
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

/** A message that fits its schema, ready to be handled; or why it does not fit. */
export type ReadMessage =
  | { readonly handle: (request: ActionRequest) => ActionReply | Promise<ActionReply> }
  | { readonly issues: readonly z.core.$ZodIssue[] };

/** What a session may ask for. */
export interface Action {
  readonly name: string;
  /** Checks a message. */
  readonly read: (value: JsonObject) => ReadMessage;
}

/** A schema of one message of a session. */
type MessageSchema<M> = z.ZodType<M> & { readonly shape: { readonly action: z.ZodLiteral<string> } };

/**
 * Binds a message's schema to its handler. The handler neither parses, nor replies, nor catches: the dispatcher
 * does.
 * @param recognise reads a message faster than its schema; what it does not recognise the schema judges
 */
export function defineAction<M>(
  schema: MessageSchema<M>,
  handler: (message: M, request: ActionRequest) => ActionReply | Promise<ActionReply>,
  recognise?: (value: JsonObject) => M | undefined,
): Action {
  return {
    name: schema.shape.action.value,
    read: (value) => {
      const recognised = recognise?.(value);
      if (recognised !== undefined) return { handle: (request) => handler(recognised, request) };
      const parsed = schema.safeParse(value);
      if (!parsed.success) return { issues: parsed.error.issues };
      return { handle: (request) => handler(parsed.data, request) };
    },
  };
}
