/**
 * Bounds on a schema and on the work one validation may cost. A schema that exceeds one is refused
 * when it is compiled; a value that exceeds one fails its validation. All are positive integers.
 */
export interface SchemaLimits {
  /** Nesting of objects and arrays in the schema's text. @default 64 */
  readonly maxDepth: number;
  /** Values in the schema: every object, array and scalar counts one, also inside `enum`. @default 10000 */
  readonly maxNodes: number;
  /** Sum of the lengths of all strings and property names in the schema, in UTF-16 units. @default 262144 */
  readonly maxTextLength: number;
  /** Length of one `$id`, `$ref` or `$dynamicRef`, in UTF-16 units. @default 2000 */
  readonly maxReferenceLength: number;
  /** Length of one regular expression, in UTF-16 units. @default 2000 */
  readonly maxPatternLength: number;
  /**
   * Cost of all regular expressions of the schema together, in instructions of their compiled
   * programs: each expression costs at least 30, each use of a Unicode property 100 more.
   * @default 5120
   */
  readonly maxPatternCost: number;
  /** Steps of one validation; a step is some 20 nanoseconds of work. @default 1500000 */
  readonly maxSteps: number;
  /** Schemas applied inside one another during a validation. @default 800 */
  readonly maxEvaluationDepth: number;
}

/** The limits that hold unless `compileSchema` is told otherwise. */
export const defaultSchemaLimits: SchemaLimits = {
  maxDepth: 64,
  maxNodes: 10_000,
  maxTextLength: 262_144,
  maxReferenceLength: 2_000,
  maxPatternLength: 2_000,
  maxPatternCost: 6_000,
  maxSteps: 1_500_000,
  maxEvaluationDepth: 512,
};
