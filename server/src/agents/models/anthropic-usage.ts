import { isJsonObject } from '../../json/json-values.js';
import type { ModelUsage } from './model.js';

/** Counts the tokens of one answer: every event that tells them tells the sum so far. */
export class AnthropicUsage {
  #inputTokens: number | undefined;
  #outputTokens: number | undefined;

  /** @param usage as an event has it; what it does not count stays */
  update(usage: unknown): void {
    if (!isJsonObject(usage)) return;
    const input = countOf(usage['input_tokens']);
    if (input !== undefined) {
      const created = countOf(usage['cache_creation_input_tokens']) ?? 0;
      this.#inputTokens = input + created + (countOf(usage['cache_read_input_tokens']) ?? 0);
    }
    this.#outputTokens = countOf(usage['output_tokens']) ?? this.#outputTokens;
  }

  /** `undefined` when the provider counted nothing. */
  get total(): ModelUsage | undefined {
    if (this.#inputTokens === undefined && this.#outputTokens === undefined) return undefined;
    return { inputTokens: this.#inputTokens ?? 0, outputTokens: this.#outputTokens ?? 0 };
  }
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
