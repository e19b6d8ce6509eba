/**
 * The part of Standard Schema (standardschema.dev) that the SDK uses: libraries such as zod, Valibot and ArkType
 * implement it, so that none of them has to be imported here.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    /** For the compiler alone; never there at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Standard JSON Schema, an extension that not every library has. */
    readonly jsonSchema?: StandardJsonSchema;
  };
}

/** What `validate` says: a value, or what is wrong. */
export type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong with a value, and where. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** Writes a schema as JSON Schema. Throws when it cannot be written so. */
export interface StandardJsonSchema {
  readonly input: (options: { readonly target: string }) => Record<string, unknown>;
}

/** Whether `value` is a schema of a library that implements Standard Schema. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  if (!('~standard' in value)) return false;
  const standard: unknown = value['~standard'];
  return (
    typeof standard === 'object' &&
    standard !== null &&
    'validate' in standard &&
    typeof standard.validate === 'function'
  );
}

/** What is wrong, in one line: `/city: expected string; /days: too big`. */
export function describeIssues(issues: readonly StandardIssue[]): string {
  const lines = issues.map(({ message, path = [] }) => {
    const pointer = path.map((part) => `/${String(typeof part === 'object' ? part.key : part)}`).join('');
    return pointer === '' ? message : `${pointer}: ${message}`;
  });
  return lines.length === 0 ? 'they do not fit' : lines.join('; ');
}
