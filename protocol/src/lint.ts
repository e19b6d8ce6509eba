import * as z from 'zod';
import { boundedText, functionNameSchema, nonceSchema, remoteNameSchema } from './common.js';
import { MAX_NAME_LENGTH } from './limits.js';

/** Providers of models that have rules about tools; the words of the hub's configuration. */
export const lintProviders = ['openai-compatible', 'anthropic'] as const;
export type LintProvider = (typeof lintProviders)[number];

/**
 * What becomes of a function in a request to a provider, the gravest of what holds: `ok` it goes as it is,
 * `mapped` its name is another there, `projected` its schema or description is, `refused` it is left out.
 */
export const lintStatuses = ['ok', 'mapped', 'projected', 'refused'] as const;
export type LintStatus = (typeof lintStatuses)[number];

/** One provider's view of one function. */
export const lintVerdictSchema = z.object({
  status: z.enum(lintStatuses),
  /** The name that the provider is sent; only when it is not the function's own. */
  name: z.string().optional(),
  /** What had to change; only when something had to. */
  changes: z.array(z.string()).optional(),
  /** Why it is left out; only when it is. */
  reason: z.string().optional(),
});
export type LintVerdict = z.infer<typeof lintVerdictSchema>;

/** What is to be said about one function of a remote. */
export const lintedFunctionSchema = z.object({
  name: functionNameSchema,
  providers: z.record(z.enum(lintProviders), lintVerdictSchema),
  /** What would help models, or is not enforced; whatever the provider. */
  hints: z.array(z.string()),
});
export type LintedFunction = z.infer<typeof lintedFunctionSchema>;

/**
 * `remote-lint`, session to hub: how the functions of a connected remote reach the models of each provider.
 * Answered with `{remotename, functions, hints, nonce}` or `remote-not-connected`.
 */
export const remoteLintSchema = z.object({
  action: z.literal('remote-lint'),
  nonce: nonceSchema.optional(),
  body: z.object({
    remotename: remoteNameSchema,
    /** The prefix that a prompt will give the names, as in `options.remotes`. */
    prefix: boundedText(0, MAX_NAME_LENGTH).optional(),
  }),
});
export type RemoteLint = z.infer<typeof remoteLintSchema>;

/** Reply to `remote-lint`: the functions in the order they were connected. */
export const remoteLintReplySchema = z.object({
  remotename: remoteNameSchema,
  functions: z.array(lintedFunctionSchema),
  /** About the remote as a whole. */
  hints: z.array(z.string()),
  nonce: nonceSchema.optional(),
});
export type LintReport = Omit<z.infer<typeof remoteLintReplySchema>, 'nonce'>;
