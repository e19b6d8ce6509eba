import { createHash } from 'node:crypto';

/** What both OpenAI and Anthropic take as the name of a tool. */
const LEGAL_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/u;
const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/**
 * Names as a provider takes them, and back. A legal name stays exactly; any other becomes a legal one that
 * ends with a hash of it, so that it is the same in every run and two never meet.
 */
export class LegalNames {
  readonly #providerNames = new Map<string, string>();
  readonly #realNames = new Map<string, string>();

  /**
   * @param names without duplicates
   * @param legal what the provider takes; a letter or `_` and then letters, digits, `_` and `-`, 64 in all, must be
   */
  constructor(
    names: readonly string[],
    private readonly legal: RegExp,
  ) {
    // legal names first: none of them gives way to a mapped one
    for (const name of names.filter((each) => legal.test(each))) this.#add(name, name);
    for (const name of names) if (!legal.test(name)) this.#add(name, this.#unusedName(name));
  }

  /** The name as the provider takes it; also of one that is gone, or never was. */
  toProvider(name: string): string {
    return this.#providerNames.get(name) ?? (this.legal.test(name) ? name : mappedName(name, HASH_LENGTH));
  }

  /** The own name. A name that stands for none is given back as it is. */
  toReal(providerName: string): string {
    return this.#realNames.get(providerName) ?? providerName;
  }

  #add(name: string, providerName: string): void {
    this.#providerNames.set(name, providerName);
    this.#realNames.set(providerName, name);
  }

  #unusedName(name: string): string {
    let hashLength = HASH_LENGTH;
    while (this.#realNames.has(mappedName(name, hashLength))) hashLength += 1;
    return mappedName(name, hashLength);
  }
}

/** The names of tools, without duplicates. */
export function toolNames(names: readonly string[]): LegalNames {
  return new LegalNames(names, LEGAL_NAME);
}

function mappedName(name: string, hashLength: number): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, hashLength);
  const legal = name.replaceAll(/[^a-zA-Z0-9_-]/gu, '_').replace(/^(?=[^a-zA-Z_])/u, '_');
  return `${legal.slice(0, MAX_LENGTH - hashLength - 1)}_${hash}`;
}
