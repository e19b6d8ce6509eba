import type { ValueReader } from '../json/value-reader.js';
import { BytesCheck } from './bytes-check.js';
import { SchemaCompiler } from './compile.js';
import type { SchemaLimits } from './limits.js';
import { defaultSchemaLimits } from './limits.js';
import type { SchemaNode } from './node.js';
import { evaluate } from './node.js';
import { checkSize } from './registration.js';
import type { ValidationFailure } from './run.js';
import { Reporter, Run, TooComplexError } from './run.js';

export type { SchemaLimits } from './limits.js';
export type { ValidationFailure } from './run.js';
export { defaultSchemaLimits } from './limits.js';
export { SchemaError } from './schema-error.js';

/** A schema of a stranger, ready to check values of strangers. Immutable; keeps no trace of a value. */
export interface CompiledSchema {
  /**
   * Undefined when the value fits, else the first failure that tells why not. It ends within the
   * budget whatever the schema and the value are: one too complex to check fails with the keyword
   * `budget` or `depth`. The value is not changed, nothing is coerced or filled in.
   */
  validate(value: unknown): ValidationFailure | undefined;
  /** Checks JSON text as it is read, as far as it can: says yes only to what `validate` takes, or would with more steps. */
  readonly bytes: ValueReader;
  /** JSON Pointers of patterns that are valid but not enforced: lookaround, back-references and the like. */
  readonly unenforcedPatterns: readonly string[];
}

/**
 * Prepares a JSON Schema for use. `$schema` chooses between draft-07 and 2020-12, the default; unknown
 * keywords and `format` are ignored. References stay inside the schema; nothing is ever fetched, and no
 * code is generated. The schema is not changed, and later changes of it have no effect.
 * @throws {SchemaError} for a schema that is wrong, too big, endless, or refers to the outside
 */
export function compileSchema(schema: unknown, limits: Partial<SchemaLimits> = {}): CompiledSchema {
  const complete = { ...defaultSchemaLimits, ...limits };
  checkSize(schema, complete);
  const compiler = new SchemaCompiler(schema, complete);
  return new PreparedSchema(compiler.compileDocument(), compiler.unenforcedPatterns, complete);
}

class PreparedSchema implements CompiledSchema {
  readonly bytes: ValueReader;

  constructor(
    private readonly root: SchemaNode,
    readonly unenforcedPatterns: readonly string[],
    private readonly limits: SchemaLimits,
  ) {
    this.bytes = new BytesCheck(root, limits);
  }

  validate(value: unknown): ValidationFailure | undefined {
    try {
      const fits = evaluate(this.root, value, new Run(this.limits, undefined), undefined);
      return fits ? undefined : this.#explain(value);
    } catch (error) {
      if (error instanceof TooComplexError) return error.failure;
      throw error;
    }
  }

  /** Looks again at a value that failed, now to say where and why. */
  #explain(value: unknown): ValidationFailure {
    const reporter = new Reporter();
    evaluate(this.root, value, new Run(this.limits, reporter), undefined);
    const { path = '', keyword = 'false', message = 'does not fit the schema' } = reporter.failure ?? {};
    return { path, keyword, message };
  }
}
