import * as z from 'zod';
import { errorCodes, executedValues } from './error-codes.js';
import { MAX_NAME_LENGTH, MAX_USER_ID_LENGTH } from './limits.js';

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** A JSON object; keys come from outside, so it is read with own-property checks only. */
export type JsonObject = { [key: string]: JsonValue };

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/**
 * A text of bounded length, counted in UTF-16 code units as JavaScript does; zod's own `max` counts code points.
 * @param minimum 0 or 1
 */
export function boundedText(minimum: number, maximum: number): z.ZodString {
  return z
    .string()
    .min(minimum)
    .refine((text) => text.length <= maximum, `Too big: expected string to have <=${maximum} characters`)
    .meta({ maxLength: maximum });
}

/** Any JSON value, passed through as it is: never cloned, so an own `__proto__` key survives. */
export const jsonValueSchema = z.custom<JsonValue>((value) => value !== undefined, {
  error: 'expected a JSON value, received nothing',
});

/** A JSON object, passed through as it is: never cloned, so an own `__proto__` key survives. */
export const jsonObjectSchema = z.custom<JsonObject>((value) => kindOf(value) === 'object', {
  error: (issue) =>
    `expected object, received ${issue.input === undefined ? 'nothing' : kindOf(issue.input)}`,
});

/**
 * The mark by which a requester knows its reply: any JSON value of at most 256 bytes of text, echoed as it
 * was sent in exactly one reply. Clients use a string.
 */
export const nonceSchema = jsonValueSchema;

/** Name of a remote: 1 to 128 characters, any of them; unique per user while connected. */
export const remoteNameSchema = boundedText(1, MAX_NAME_LENGTH);

/** Name of a function: 1 to 128 characters, any of them; unique within its remote. */
export const functionNameSchema = boundedText(1, MAX_NAME_LENGTH);

/** Name of a user, as in a token's `sub`: 1 to 256 characters. */
export const userIdSchema = boundedText(1, MAX_USER_ID_LENGTH);

/** Id of a call towards its serving session: `<remotename>#<n>`; looked up whole, never parsed. */
export const requestIdSchema = z.string();

/** Id of a session, made by the hub. */
export const sessionIdSchema = z.string();

/**
 * Any request that failed, hub to session: `error` is a sentence for people, `code` a word for programs.
 * A failed call also says whether its function ran and whether the same request may be sent again as it is.
 */
export const errorReplySchema = z.object({
  error: z.string().min(1),
  code: z.enum(errorCodes),
  nonce: nonceSchema.optional(),
  /** Only on a failed `remote-call`. */
  executed: z.enum(executedValues).optional(),
  /** Only on a failed `remote-call`: sending the same call again may succeed and cannot run it twice. */
  retryable: z.boolean().optional(),
  /** Only on a failed `remote-call` that was forwarded: the id that its serving session knows it by. */
  requestId: requestIdSchema.optional(),
  /** Only with `rate-limited`: how long to wait, in milliseconds. */
  retryAfterMs: z.int().nonnegative().optional(),
});
export type ErrorReply = z.infer<typeof errorReplySchema>;
