import type { JsonObject } from '@remotes-hub/protocol';
import type * as z from 'zod';
import type { JsonFields } from '../json/json-text.js';
import type { WrittenMessage } from '../json/written-message.js';
import type { ActionRequest } from './action-request.js';

/** The fields of the reply, without its nonce; `undefined` for what is not answered, or later through the request. */
export type ActionReply = JsonFields | undefined;

/**
 * A message that fits its schema, ready to be handled.
 * @param text of the message, for the parts that are passed on as they were written; not to be kept
 */
export type Handle = (request: ActionRequest, text: WrittenMessage) => ActionReply | Promise<ActionReply>;

/** A message as its schema sees it: ready to be handled, or why it does not fit. */
export type ReadMessage = { readonly handle: Handle } | { readonly issues: readonly z.core.$ZodIssue[] };

/** What a session may ask for. */
export interface Action {
  readonly name: string;
  /** Checks a message. */
  readonly read: (value: JsonObject) => ReadMessage;
  /** Reads a message that is written as usual without parsing all of it; `undefined` leaves it to {@link read}. */
  readonly recognise: ((message: WrittenMessage) => Handle | undefined) | undefined;
}

/** A schema of one message of a session. */
type MessageSchema<M> = z.ZodType<M> & { readonly shape: { readonly action: z.ZodLiteral<string> } };

/**
 * Binds a message's schema to its handler. The handler neither parses, nor replies, nor catches: the dispatcher
 * does.
 * @param recognise reads well-formed messages that fit the schema, and leaves any of them to it
 */
export function defineAction<M>(
  schema: MessageSchema<M>,
  handler: (message: M, request: ActionRequest, text: WrittenMessage) => ActionReply | Promise<ActionReply>,
  recognise?: (message: WrittenMessage) => M | undefined,
): Action {
  return {
    name: schema.shape.action.value,
    read: (value) => {
      const parsed = schema.safeParse(value);
      if (!parsed.success) return { issues: parsed.error.issues };
      return { handle: (request, text) => handler(parsed.data, request, text) };
    },
    recognise:
      recognise &&
      ((written) => {
        const message = recognise(written);
        return message && ((request, text) => handler(message, request, text));
      }),
  };
}
