import * as z from 'zod';
import {
  functionNameSchema,
  jsonObjectSchema,
  jsonValueSchema,
  nonceSchema,
  remoteNameSchema,
  requestIdSchema,
} from './common.js';
import { executedValues } from './error-codes.js';
import { functionSpecsSchema } from './function-specs.js';
import { MAX_CALL_TIMEOUT_MS, MAX_RESUME_MS } from './limits.js';
import { traceparentSchema, tracestateSchema } from './trace-context.js';

/**
 * `remote-connect`, session to hub: serve a named set of functions. Answered with
 * `{message: "remote connected", remotename, nonce}`, or `remote-already-connected`, `invalid-schema`,
 * `too-many-remotes`, `message-too-large`.
 */
export const remoteConnectSchema = z.object({
  action: z.literal('remote-connect'),
  nonce: nonceSchema.optional(),
  body: z.object({
    remotename: remoteNameSchema,
    tools: functionSpecsSchema,
    /**
     * How long calls in flight wait for this session's instance when its connection is lost, in milliseconds;
     * 0, the default: not at all. See README.md, "Resuming".
     */
    resumeMs: z.int().min(0).max(MAX_RESUME_MS).optional(),
  }),
});
export type RemoteConnect = z.infer<typeof remoteConnectSchema>;

/** Reply to `remote-connect`. `warnings` only with remotes.v1, and only when there are any. */
export const remoteConnectedReplySchema = z.object({
  message: z.literal('remote connected'),
  remotename: remoteNameSchema,
  warnings: z.array(z.string()).optional(),
  nonce: nonceSchema.optional(),
});

/**
 * `remote-disconnect`, any session of the user to hub. Calls in flight fail at once with
 * `remote-disconnected`; with `drain: true` they may finish and only new ones are refused.
 * Answered with `{message: "remote disconnected", remotename, nonce}` or `remote-not-connected`.
 */
export const remoteDisconnectSchema = z.object({
  action: z.literal('remote-disconnect'),
  nonce: nonceSchema.optional(),
  body: z.object({ remotename: remoteNameSchema, drain: z.boolean().optional() }),
});
export type RemoteDisconnect = z.infer<typeof remoteDisconnectSchema>;

/** Reply to `remote-disconnect`. */
export const remoteDisconnectedReplySchema = z.object({
  message: z.literal('remote disconnected'),
  remotename: remoteNameSchema,
  nonce: nonceSchema.optional(),
});

/** `remote-list`, session to hub: what is connected for this user, in order of connection. */
export const remoteListSchema = z.object({ action: z.literal('remote-list'), nonce: nonceSchema.optional() });

/** Reply to `remote-list`: the function specs are the very text that was connected. */
export const remoteListReplySchema = z.object({
  remotes: z.array(z.object({ remotename: remoteNameSchema, tools: functionSpecsSchema })),
  nonce: nonceSchema.optional(),
});

/**
 * `remote-call`, session to hub: run one function of a connected remote (README.md, "Calls").
 * Answered with `{result, nonce}`, or with `{error, code, executed, retryable, requestId, nonce}` when the
 * arguments do not fit, no such remote or function is connected, its session reports an error or closes, or no
 * answer comes in time; `requestId` only when the call was forwarded.
 */
export const remoteCallSchema = z.object({
  action: z.literal('remote-call'),
  nonce: nonceSchema.optional(),
  body: z.object({
    remotename: remoteNameSchema,
    function: functionNameSchema,
    /** Forwarded as the text it came in; absent means `{}`. */
    args: jsonObjectSchema.optional(),
    /** Deadline of this call in milliseconds; else the function spec's, else 30 000. */
    timeoutMs: z.int().min(1).max(MAX_CALL_TIMEOUT_MS).optional(),
    /** Where the call belongs in the caller's trace. See README.md, "Traces". */
    traceparent: traceparentSchema,
    tracestate: tracestateSchema,
  }),
});
export type RemoteCall = z.infer<typeof remoteCallSchema>;

/** Reply to `remote-call`: falsy results are results. */
export const remoteCallReplySchema = z.object({ result: jsonValueSchema, nonce: nonceSchema.optional() });

/**
 * `remote-call`, hub to serving session: exactly these four fields for a session without the subprotocol
 * remotes.v1; with it `timeoutMs`, the time left in milliseconds, is added, and the trace context when there is one.
 */
export const forwardedCallSchema = z.object({
  action: z.literal('remote-call'),
  requestId: requestIdSchema,
  function: functionNameSchema,
  args: jsonObjectSchema,
  timeoutMs: z.int().min(0).optional(),
  traceparent: traceparentSchema,
  tracestate: tracestateSchema,
});
export type ForwardedCall = z.infer<typeof forwardedCallSchema>;

/**
 * `remote-call-result`, serving session to hub: how a forwarded call ended. Never answered. An id that is
 * not pending in this session is ignored. `error` other than `null` wins over `result`; neither means `null`.
 */
export const remoteCallResultSchema = z.object({
  action: z.literal('remote-call-result'),
  requestId: jsonValueSchema.optional(),
  result: jsonValueSchema.optional(),
  error: jsonValueSchema.optional(),
  /** With `error`: whether the function ran. `yes` when absent. */
  executed: z.enum(executedValues).optional().catch(undefined),
});
export type RemoteCallResult = z.infer<typeof remoteCallResultSchema>;

/**
 * `remote-call-progress`, serving session to hub (remotes.v1): the call is alive. Extends its deadline by its
 * timeout, up to the hub's hard cap. Never answered; an id that is not pending in this session is ignored.
 */
export const remoteCallProgressSchema = z.object({
  action: z.literal('remote-call-progress'),
  requestId: jsonValueSchema.optional(),
  progress: jsonValueSchema.optional(),
});
export type RemoteCallProgress = z.infer<typeof remoteCallProgressSchema>;

/** `remote-call-progress`, hub to a caller that speaks remotes.v1 and gave its call a nonce. */
export const callProgressSchema = z.object({
  action: z.literal('remote-call-progress'),
  nonce: nonceSchema,
  progress: jsonValueSchema,
});

/**
 * `remote-call-cancel`, caller to hub: end the calls in flight of this session that were sent with
 * `body.nonce`. They are answered with `call-cancelled`.
 */
export const remoteCallCancelSchema = z.object({
  action: z.literal('remote-call-cancel'),
  nonce: nonceSchema.optional(),
  body: z.object({ nonce: nonceSchema }),
});
export type RemoteCallCancel = z.infer<typeof remoteCallCancelSchema>;

/** Reply to `remote-call-cancel`: how many calls it ended; 0 when they had ended before. */
export const remoteCallCancelledReplySchema = z.object({
  message: z.literal('remote calls cancelled'),
  cancelled: z.int().nonnegative(),
  nonce: nonceSchema.optional(),
});

/** Why the hub no longer waits for a forwarded call. */
export const cancelReasonSchema = z.enum([
  'call-timeout',
  'call-cancelled',
  'caller-gone',
  'remote-disconnected',
  'shutting-down',
]);
export type CancelReason = z.infer<typeof cancelReasonSchema>;

/** `remote-call-cancel`, hub to a serving session that speaks remotes.v1: nobody waits for this call now. */
export const forwardedCancelSchema = z.object({
  action: z.literal('remote-call-cancel'),
  requestId: requestIdSchema,
  reason: cancelReasonSchema,
});

/** Event `remote-connected`, to every session of the user. */
export const remoteConnectedEventSchema = z.object({
  action: z.literal('remote-connected'),
  body: z.object({ remotename: remoteNameSchema }),
});

/** Event `remote-disconnected`, to every session of the user. */
export const remoteDisconnectedEventSchema = z.object({
  action: z.literal('remote-disconnected'),
  body: z.object({ remotename: remoteNameSchema }),
});
