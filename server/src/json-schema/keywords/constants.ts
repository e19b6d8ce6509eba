import { canonicalKey, numberKey } from '../canonical.js';
import { isJsonArray, isJsonObject } from '../../json/json-values.js';
import { boundedList } from '../messages.js';
import type { SchemaNode } from '../node.js';
import type { Run } from '../run.js';
import type { Site } from '../site.js';

// The schema's own size is bounded before, so that its keys need no meter.
const unmetered = { enter: () => {}, leave: () => {} };

/** `enum` and `const`. */
export function compileConstants(site: Site, node: SchemaNode): void {
  if (site.has('const')) pushCheck(node, 'const', [site.value('const')]);
  const values = site.list('enum');
  if (values !== undefined) pushCheck(node, 'enum', values);
}

function pushCheck(node: SchemaNode, keyword: 'const' | 'enum', values: readonly unknown[]): void {
  const texts = boundedList(values.slice(0, 50).map(constantText));
  const describe = (): string => (keyword === 'const' ? `expected ${texts}` : `expected one of ${texts}`);
  const [only] = values;
  if (values.length === 1 && typeof only === 'string') {
    node.addFirst((value, run) => {
      run.spend(1 + only.length / 16);
      return value === only || run.fail(keyword, describe, value);
    });
    return;
  }
  const allowed = new AllowedValues(values);
  node.addFirst((value, run) => allowed.has(value, run) || run.fail(keyword, describe, value));
}

/** The values that are allowed, by kind, so that most values are compared without writing a key. */
class AllowedValues {
  readonly #strings: ReadonlySet<string>;
  readonly #keys: ReadonlySet<string>;
  // Sizes of the allowed arrays and objects: one of another size needs no look inside.
  readonly #lengths: readonly number[];
  readonly #sizes: readonly number[];

  constructor(values: readonly unknown[]) {
    const others = values.filter((value) => typeof value !== 'string');
    this.#strings = new Set(values.filter((value) => typeof value === 'string'));
    this.#keys = new Set(others.map((value) => canonicalKey(value, unmetered)));
    this.#lengths = [...new Set(others.filter(isJsonArray).map((value) => value.length))];
    this.#sizes = [...new Set(others.filter(isJsonObject).map((value) => Object.keys(value).length))];
  }

  has(value: unknown, run: Run): boolean {
    if (typeof value === 'string') {
      run.spend(1 + value.length / 16);
      return this.#strings.has(value);
    }
    run.spend(8);
    if (this.#keys.size === 0) return false;
    if (typeof value === 'number') return this.#keys.has(numberKey(value));
    if (isJsonArray(value)) return this.#hasOfSize(this.#lengths, value.length, value, run);
    if (!isJsonObject(value)) return this.#keys.has(String(value));
    return this.#sizes.length > 0 && this.#hasOfSize(this.#sizes, run.keys(value).length, value, run);
  }

  #hasOfSize(sizes: readonly number[], size: number, value: unknown, run: Run): boolean {
    run.spend(sizes.length);
    return sizes.includes(size) && this.#keys.has(canonicalKey(value, run));
  }
}

function constantText(value: unknown): string {
  return typeof value === 'string'
    ? JSON.stringify(value.slice(0, 100))
    : JSON.stringify(value ?? null).slice(0, 100);
}
