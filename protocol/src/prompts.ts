import * as z from 'zod';
import { boundedText, jsonObjectSchema, jsonValueSchema, nonceSchema } from './common.js';
import { errorCodes, runFailureCodes, runFinishReasons, runStatuses } from './error-codes.js';
import { MAX_INSTRUCTION_LENGTH, MAX_NAME_LENGTH } from './limits.js';

/** Id of a configured agent: the seed shows a number; a string does as well, and `7` and `"7"` are the same. */
export const agentIdSchema = z.union([boundedText(1, MAX_NAME_LENGTH), z.int()]);
export type AgentId = z.infer<typeof agentIdSchema>;

/** Id of a run, made by the hub. */
export const runIdSchema = boundedText(1, MAX_NAME_LENGTH);

/**
 * What an entry of `options.remotes` may be: a remote's name, or its name with a prefix for the names of its
 * tools. An entry that is neither is skipped with a warning.
 */
export const remoteSelectionSchema = z.union([
  boundedText(1, MAX_NAME_LENGTH),
  z.object({
    name: boundedText(1, MAX_NAME_LENGTH),
    prefix: boundedText(0, MAX_NAME_LENGTH).optional(),
  }),
]);
export type RemoteSelection = z.infer<typeof remoteSelectionSchema>;

/**
 * `send-agent-prompt`, session to hub (seed, "The prompt contract"). Answered at once with
 * `{message: "prompt accepted", runId, nonce}` or `agent-not-found`, `rate-limited`; the run reports by events.
 * `options` is splatted into the run's input: `remotes` chooses remotes, `tools` (names of native tools)
 * replaces the toolset, `conversationId` continues an earlier run, `context` and `system` are told to the model,
 * `maxSteps` and `timeoutMs` lower the agent's limits.
 */
export const sendAgentPromptSchema = z.object({
  action: z.literal('send-agent-prompt'),
  nonce: nonceSchema.optional(),
  body: z.object({
    agentId: agentIdSchema,
    instruction: boundedText(1, MAX_INSTRUCTION_LENGTH),
    options: jsonObjectSchema.nullish(),
  }),
});
export type SendAgentPrompt = z.infer<typeof sendAgentPromptSchema>;

/** Reply to `send-agent-prompt`. */
export const promptAcceptedReplySchema = z.object({
  message: z.literal('prompt accepted'),
  runId: runIdSchema,
  nonce: nonceSchema.optional(),
});

/** `run-cancel`, any session of the user to hub. Answered with `{message, runId, nonce}` or `run-not-found`. */
export const runCancelSchema = z.object({
  action: z.literal('run-cancel'),
  nonce: nonceSchema.optional(),
  body: z.object({ runId: runIdSchema }),
});
export type RunCancel = z.infer<typeof runCancelSchema>;

/** Reply to `run-cancel`; the run ends with `run-finished`, status `cancelled`. */
export const runCancelledReplySchema = z.object({
  message: z.literal('run cancelled'),
  runId: runIdSchema,
  nonce: nonceSchema.optional(),
});

/** `agent-list`, session to hub: the agents that may be prompted. */
export const agentListSchema = z.object({ action: z.literal('agent-list'), nonce: nonceSchema.optional() });

/** Reply to `agent-list`. `tools` are the names of the agent's native tools. */
export const agentListReplySchema = z.object({
  agents: z.array(z.object({ agentId: agentIdSchema, name: z.string(), tools: z.array(z.string()) })),
  nonce: nonceSchema.optional(),
});

/** A tool of a run: native, or a function of a remote. */
export const runToolSchema = z.object({
  name: z.string(),
  remotename: z.string().optional(),
  function: z.string().optional(),
});
export type RunTool = z.infer<typeof runToolSchema>;

/** What every run event carries: its run, and its place among the run's events, counted from 0. */
const runEventFields = { runId: runIdSchema, seq: z.int().nonnegative() };

/** Event `run-started`: the tools of the run, and what was left out and why. */
export const runStartedEventSchema = z.object({
  action: z.literal('run-started'),
  body: z.object({
    ...runEventFields,
    agentId: agentIdSchema,
    tools: z.array(runToolSchema),
    warnings: z.array(z.string()),
  }),
});

/** Event `run-text`: the next piece of the answer. */
export const runTextEventSchema = z.object({
  action: z.literal('run-text'),
  body: z.object({ ...runEventFields, text: z.string() }),
});

/** Event `run-tool-call`: the model called a tool. */
export const runToolCallEventSchema = z.object({
  action: z.literal('run-tool-call'),
  body: z.object({ ...runEventFields, callId: z.string(), ...runToolSchema.shape, args: jsonValueSchema }),
});

/** Event `run-tool-result`: what the model was told; `isError` when the call failed. */
export const runToolResultEventSchema = z.object({
  action: z.literal('run-tool-result'),
  body: z.object({
    ...runEventFields,
    callId: z.string(),
    name: z.string(),
    content: z.string(),
    isError: z.boolean(),
    code: z.enum(errorCodes).optional(),
  }),
});

/** What a run used. Tokens as the provider counts them, summed; absent when it tells none. */
export const runUsageSchema = z.object({
  steps: z.int().nonnegative(),
  toolCalls: z.int().nonnegative(),
  inputTokens: z.int().nonnegative().optional(),
  outputTokens: z.int().nonnegative().optional(),
});
export type RunUsage = z.infer<typeof runUsageSchema>;

/** Event `run-finished`: the last event of every run. */
export const runFinishedEventSchema = z.object({
  action: z.literal('run-finished'),
  body: z.object({
    ...runEventFields,
    status: z.enum(runStatuses),
    output: z.string(),
    usage: runUsageSchema,
    /** Why the answer stops before its end; only with status `completed`. */
    finishReason: z.enum(runFinishReasons).optional(),
    /** Why the run has not completed; never with status `completed`. */
    code: z.enum(runFailureCodes).optional(),
    /** Only with status `failed`: a sentence for people. */
    error: z.string().optional(),
  }),
});

/** Any event of a run. */
export const runEventSchema = z.discriminatedUnion('action', [
  runStartedEventSchema,
  runTextEventSchema,
  runToolCallEventSchema,
  runToolResultEventSchema,
  runFinishedEventSchema,
]);
export type RunEvent = z.infer<typeof runEventSchema>;

/**
 * `run-get`, any session of the user to hub: the events of a run so far, for who joined late. Answered with
 * {@link runGetReplySchema} or `run-not-found`.
 */
export const runGetSchema = z.object({
  action: z.literal('run-get'),
  nonce: nonceSchema.optional(),
  body: z.object({ runId: runIdSchema }),
});
export type RunGet = z.infer<typeof runGetSchema>;

/**
 * Reply to `run-get`: the events as they were sent, in order and without gaps from `firstSeq` on, which is above 0
 * when the hub has dropped older ones.
 */
export const runGetReplySchema = z.object({
  runId: runIdSchema,
  firstSeq: z.int().nonnegative(),
  isFinished: z.boolean(),
  events: z.array(runEventSchema),
  nonce: nonceSchema.optional(),
});
