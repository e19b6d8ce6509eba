import { boundedPointer } from './json-pointer.js';
import type { SchemaLimits } from './limits.js';
import type { JsonObject } from '../json/json-values.js';
import { kindOf } from '../json/json-values.js';
import { eitherOf } from './messages.js';
import type { Marks } from './marks.js';
import type { StepCounter } from './step-counter.js';

/** Why a value does not fit its schema. Never holds content of the value, but names of properties. */
export interface ValidationFailure {
  /** JSON Pointer into the value, `''` for the whole value; cut at 256 characters. */
  readonly path: string;
  /** The keyword that failed; `budget` or `depth` when the value is too complex to check. */
  readonly keyword: string;
  readonly message: string;
}

/** Ends a validation whose budget is used up. It never leaves this folder. */
export class TooComplexError extends Error {
  constructor(readonly failure: ValidationFailure) {
    super(failure.message);
  }
}

/** A prepared schema, as far as a run needs it. */
export interface Evaluable {
  /** Whether the value fits the schema. @throws {TooComplexError} */
  evaluate(value: unknown, run: Run, marks: Marks | undefined): boolean;
}

/** A resource whose schemas are being applied. */
export interface ScopeEntry {
  /** Its `$dynamicAnchor`s by name. */
  readonly dynamicAnchors: Pick<ReadonlyMap<string, unknown>, 'has'>;
  /** The prepared schema that a `$dynamicAnchor` of this resource marks. */
  dynamicNode(name: string): Evaluable | undefined;
}

/** A failure of a branch, with what the choice between branches needs. */
interface FoundFailure extends ValidationFailure {
  readonly depth: number;
  /** The types that a failed `type` expected. */
  readonly types?: readonly string[];
}

/**
 * The second look at a value that failed: the same checks, now with the path and the failure noted.
 * The first look notes nothing, so a value that fits costs no allocation for failures.
 */
export class Reporter {
  readonly path: (string | number)[] = [];
  failure: FoundFailure | undefined;

  note(keyword: string, message: string, types?: readonly string[]): void {
    const found = { path: boundedPointer(this.path), keyword, message, depth: this.path.length };
    this.failure = types === undefined ? found : { ...found, types };
  }
}

/** The state of one validation. */
export class Run implements StepCounter {
  /** True once an unenforced pattern was taken for a match: what follows from it is not certain. */
  unsure = false;
  reporter: Reporter | undefined;
  /** Resources entered and not yet left, outermost first; kept only for schemas with `$dynamicRef`. */
  readonly scope: ScopeEntry[] = [];
  #stepsLeft: number;
  #depthLeft: number;
  #keysOf: JsonObject | undefined;
  #keys: readonly string[] = [];

  constructor(limits: SchemaLimits, reporter: Reporter | undefined) {
    this.#stepsLeft = limits.maxSteps;
    this.#depthLeft = limits.maxEvaluationDepth;
    this.reporter = reporter;
  }

  spend(steps: number): void {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw tooComplex('budget', 'the value is too complex to check');
  }

  /** Begins one application of a schema. */
  enter(steps: number): void {
    this.spend(steps);
    this.#depthLeft -= 1;
    if (this.#depthLeft < 0)
      throw tooComplex('depth', 'the value is too complex to check: it is nested too deeply');
  }

  leave(): void {
    this.#depthLeft += 1;
  }

  /**
   * The names of an object's own properties. The last answer is kept: the keywords of one schema ask
   * for the same object in turn.
   */
  keys(value: JsonObject): readonly string[] {
    if (this.#keysOf === value) return this.#keys;
    this.#keysOf = value;
    this.#keys = Object.keys(value);
    this.spend(4 + this.#keys.length * (this.#keys.length > 64 ? 6 : 2));
    return this.#keys;
  }

  /** Steps into a property or an item, for the path of a failure. */
  down(key: string | number): void {
    this.reporter?.path.push(key);
  }

  up(): void {
    this.reporter?.path.pop();
  }

  /** Notes a failure; the text is made only when somebody will read it. */
  fail<T>(keyword: string, describe: (value: T) => string, value: T): false {
    this.reporter?.note(keyword, describe(value));
    return false;
  }

  failType(types: readonly string[], value: unknown): false {
    this.reporter?.note('type', typeMessage(types, value), types);
    return false;
  }

  /** The failure of a branch that just failed, and the path back where the branch began. */
  takeFailure(depth: number): FoundFailure | undefined {
    const { reporter } = this;
    if (reporter === undefined) return undefined;
    const { failure } = reporter;
    reporter.path.length = depth;
    reporter.failure = undefined;
    return failure;
  }

  get pathLength(): number {
    return this.reporter?.path.length ?? 0;
  }

  /** All branches failed: keeps the failure that tells most, the one of the branch that came furthest. */
  failBranches(keyword: string, failures: readonly FoundFailure[], value: unknown): false {
    const { reporter } = this;
    if (reporter === undefined) return false;
    const types = failures.flatMap((failure) => failure.types ?? []);
    if (failures.length > 0 && failures.every((failure) => isTypeFailureAt(failure, reporter.path.length))) {
      return this.failType([...new Set(types)], value);
    }
    const best = failures.reduce<FoundFailure | undefined>(
      (kept, failure) =>
        kept === undefined || tellsMore(failure, kept, reporter.path.length) ? failure : kept,
      undefined,
    );
    if (best === undefined) reporter.note(keyword, 'matches none of the allowed forms');
    else reporter.failure = best;
    return false;
  }
}

function tooComplex(keyword: string, message: string): TooComplexError {
  return new TooComplexError({ path: '', keyword, message });
}

function typeMessage(types: readonly string[], value: unknown): string {
  return `expected ${eitherOf(types)}, received ${kindOf(value)}`;
}

function isTypeFailureAt(failure: FoundFailure, depth: number): boolean {
  return failure.types !== undefined && failure.depth === depth;
}

/**
 * Whether a branch came further than another. One whose constants differ was not meant: they tell the
 * forms of a union apart. Then the deeper failure tells more, and a wrong type less than the rest.
 */
function tellsMore(failure: FoundFailure, kept: FoundFailure, depth: number): boolean {
  const meant = isMeant(failure, depth);
  if (meant !== isMeant(kept, depth)) return meant;
  if (failure.depth !== kept.depth) return failure.depth > kept.depth;
  return failure.keyword !== 'type' && kept.keyword === 'type';
}

function isMeant({ keyword, depth }: FoundFailure, branchDepth: number): boolean {
  return (keyword !== 'const' && keyword !== 'enum') || depth > branchDepth + 1;
}
