import * as z from 'zod';
import { boundedText, nonceSchema, sessionIdSchema, userIdSchema } from './common.js';
import {
  MAX_INSTANCE_ID_LENGTH,
  MAX_PASSWORD_LENGTH,
  MAX_TOKEN_LENGTH,
  MIN_INSTANCE_ID_LENGTH,
} from './limits.js';

/**
 * A random string of a client's own, kept secret: an earlier session of the same user with the same one is
 * closed with 4409, so that a client is never locked out by its own ghost.
 */
export const instanceIdSchema = boundedText(MIN_INSTANCE_ID_LENGTH, MAX_INSTANCE_ID_LENGTH);

/** A password: 1 to 1,024 characters. */
export const passwordSchema = boundedText(1, MAX_PASSWORD_LENGTH);

/** Credentials, in either of their two forms. */
export const credentialsSchema = z.union(
  [
    z.object({ token: boundedText(1, MAX_TOKEN_LENGTH) }),
    z.object({
      username: userIdSchema,
      password: passwordSchema,
    }),
  ],
  { error: 'expected {token} or {username, password}, non-empty strings' },
);
export type Credentials = z.infer<typeof credentialsSchema>;

/**
 * `authenticate`, session to hub: log in, or extend a session that has logged in already (as the same user).
 * Answered with {@link authenticatedReplySchema}, or `invalid-credentials` or `rate-limited`. Three failures
 * before the first success close the connection with 4401.
 */
export const authenticateSchema = z.object({
  action: z.literal('authenticate'),
  nonce: nonceSchema.optional(),
  body: z.intersection(credentialsSchema, z.object({ instanceId: instanceIdSchema.optional() })),
});
export type Authenticate = z.infer<typeof authenticateSchema>;

/**
 * Reply to a successful `authenticate`. `expiresAt` is milliseconds since 1970, absent when the session never
 * ends; `maxMessageBytes` is this hub's largest frame, so that a client can check a size before it sends.
 * `resumed` is there only when the session took over from a lost one of its instance (README.md, "Resuming").
 */
export const authenticatedReplySchema = z.object({
  message: z.literal('authenticated'),
  userId: userIdSchema,
  sessionId: sessionIdSchema,
  maxMessageBytes: z.int().positive(),
  expiresAt: z.int().optional(),
  resumed: z.literal(true).optional(),
  nonce: nonceSchema.optional(),
});

/** `ping`, session to hub: is the hub there? Answered with `{message: "pong", nonce}`. */
export const pingSchema = z.object({ action: z.literal('ping'), nonce: nonceSchema.optional() });

/** Reply to `ping`. */
export const pongReplySchema = z.object({ message: z.literal('pong'), nonce: nonceSchema.optional() });

/** Event `session-opened`, to every session of the user, the new one too. */
export const sessionOpenedEventSchema = z.object({
  action: z.literal('session-opened'),
  body: z.object({ sessionId: sessionIdSchema }),
});

/** Event `session-expiring`, to the session that ends at `expiresAt` (milliseconds since 1970), 60 s before. */
export const sessionExpiringEventSchema = z.object({
  action: z.literal('session-expiring'),
  body: z.object({ sessionId: sessionIdSchema, expiresAt: z.int() }),
});

/**
 * Event `session-closing`, to a session that the hub is about to close with 1001, since it is going away. The
 * client should come back after `reconnectAfterMs` (milliseconds), which is another for each session.
 */
export const sessionClosingEventSchema = z.object({
  action: z.literal('session-closing'),
  body: z.object({ sessionId: sessionIdSchema, reconnectAfterMs: z.int().nonnegative() }),
});
