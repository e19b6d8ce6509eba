import * as z from 'zod';
import { boundedText, functionNameSchema, jsonObjectSchema } from './common.js';
import { MAX_CALL_TIMEOUT_MS, MAX_DESCRIPTION_LENGTH, MAX_FUNCTIONS_PER_REMOTE } from './limits.js';

/** What a function does to the world; absent means ungoverned, as in the seed. */
export const verbSchema = z.enum(['get', 'create', 'update', 'delete']);
export type Verb = z.infer<typeof verbSchema>;

/**
 * One function of a remote (seed, "Wire protocol"): `name`, `description` and `parameters`, an OpenAI
 * tool-parameter schema. Absent or `null` parameters mean an object without declared properties.
 * The other fields are optional additions; fields not named here are kept and listed, not read.
 */
export const functionSpecSchema = z.object({
  name: functionNameSchema,
  description: boundedText(0, MAX_DESCRIPTION_LENGTH).nullish(),
  /** JSON Schema (2020-12, draft 7) of `args`; checked before every call. */
  parameters: jsonObjectSchema.nullish(),
  verb: verbSchema.optional(),
  /** Deadline of a call to this function when its caller asks for none, in milliseconds. */
  timeoutMs: z.int().min(1).max(MAX_CALL_TIMEOUT_MS).optional(),
  /** Most calls of one run. */
  maxCalls: z.int().min(1).max(10_000).optional(),
  /** JSON Schema of the result; a result that does not fit fails the call with `invalid-result`. */
  result: jsonObjectSchema.optional(),
  version: boundedText(1, 64).optional(),
  /** The serving session can render a preview of a call. */
  preview: z.boolean().optional(),
});
export type FunctionSpec = z.infer<typeof functionSpecSchema>;

/** The functions of one remote, in the order they are listed. May be empty. Names must differ. */
export const functionSpecsSchema = z
  .array(functionSpecSchema)
  .max(MAX_FUNCTIONS_PER_REMOTE)
  .superRefine((specs, check) => {
    const seen = new Set<string>();
    for (const [index, { name }] of specs.entries()) {
      if (seen.has(name)) {
        check.addIssue({
          code: 'custom',
          path: [index, 'name'],
          message: `function '${name}' is listed twice`,
        });
      }
      seen.add(name);
    }
  });
