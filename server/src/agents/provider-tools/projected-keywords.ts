import type { JsonObject } from '../../json/json-values.js';

/** A schema as it is exported. */
export interface Projected {
  readonly schema: JsonObject;
  /** Whether it allows exactly what the given one allows, and not more. */
  readonly isExact: boolean;
}

/**
 * The keywords of one schema while it is projected. Schemas in them may have become weaker; where that would make
 * the whole stronger (under `not`, in an `if`, beside another form of a `oneOf`), the keyword gives way.
 */
export class ProjectedKeywords {
  readonly #values = new Map<string, unknown>();
  /** Keywords that hold a weaker schema than before. */
  readonly #weaker = new Set<string>();
  #isExact = true;
  #losesNames = false;

  constructor(private readonly changes: Set<string>) {}

  add(keyword: string, value: unknown): void {
    this.#values.set(keyword, value);
  }

  addSchema(keyword: string, { schema, isExact }: Projected): void {
    this.#set(keyword, schema, isExact);
  }

  addSchemas(keyword: string, parts: readonly Projected[]): void {
    this.#set(
      keyword,
      parts.map(({ schema }) => schema),
      parts.every(({ isExact }) => isExact),
    );
  }

  /** @param lists what maps names to something else than schemas */
  addMap(keyword: string, map: readonly (readonly [string, Projected])[], lists: [string, unknown][]): void {
    const entries = map.map(([name, { schema }]): [string, unknown] => [name, schema]);
    this.#set(
      keyword,
      Object.fromEntries([...entries, ...lists]),
      map.every(([, { isExact }]) => isExact),
    );
  }

  leaveOut(keyword: string, change = `'${keyword}' was left out`): void {
    this.changes.add(change);
    this.#isExact = false;
  }

  /** An entry of `properties` or `patternProperties` is not written: any other property may be meant by it. */
  loseName(keyword: string): void {
    this.leaveOut(keyword, `an entry of '${keyword}' that providers cannot read was left out`);
    this.#losesNames = true;
  }

  finish(): Projected {
    if (this.#losesNames) this.#values.delete('additionalProperties');
    if (this.#weaker.has('not')) this.#giveWay('not');
    if (this.#weaker.has('if')) this.#giveWay('if');
    if (!this.#values.has('if')) for (const keyword of ['then', 'else']) this.#values.delete(keyword);
    if (this.#weaker.has('contains') && this.#values.has('maxContains')) this.#giveWay('maxContains');
    if (this.#weaker.has('oneOf')) this.#loosenOneOf();
    return {
      schema: Object.fromEntries(this.#values),
      isExact: this.#isExact && this.#weaker.size === 0,
    };
  }

  #set(keyword: string, value: unknown, isExact: boolean): void {
    this.#values.set(keyword, value);
    if (!isExact) this.#weaker.add(keyword);
  }

  #giveWay(keyword: string): void {
    this.#values.delete(keyword);
    this.leaveOut(keyword);
  }

  /** Weaker forms overlap: that only one may fit cannot be said any more. */
  #loosenOneOf(): void {
    const forms = this.#values.get('oneOf');
    this.#values.delete('oneOf');
    if (!this.#values.has('anyOf')) this.#values.set('anyOf', forms);
    this.changes.add("'oneOf' became 'anyOf'");
  }
}

/** What is not evaluated cannot be told any more once a schema has become weaker. */
export function withoutUnevaluated({ schema, isExact }: Projected): Projected {
  if (isExact) return { schema, isExact };
  const { unevaluatedItems: _items, unevaluatedProperties: _properties, ...kept } = schema;
  return { schema: kept, isExact };
}
