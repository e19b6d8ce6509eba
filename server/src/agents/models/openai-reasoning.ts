import { isJsonObject, ownProperty } from '../../json/json-values.js';

/** Where servers put what a model thought: DeepSeek and others the first, Ollama, vLLM and OpenRouter the second. */
const FIELDS = ['reasoning_content', 'reasoning'] as const;

/**
 * What a model thought, under the names that its server gave it. Some servers refuse a conversation that lacks it,
 * so it goes back as it came.
 */
export type Reasoning = Readonly<Partial<Record<(typeof FIELDS)[number], string>>>;

/** The reasoning in a delta, or in what this adapter kept; nothing in what another one did. */
export function reasoningOf(data: unknown): Reasoning {
  if (!isJsonObject(data)) return {};
  const found = FIELDS.map((field) => [field, ownProperty(data, field)] as const);
  return Object.fromEntries(found.filter(([, text]) => typeof text === 'string' && text !== ''));
}

/** The reasoning so far and what a delta adds. */
export function addReasoning(before: Reasoning, added: Reasoning): Reasoning {
  const after: Partial<Record<(typeof FIELDS)[number], string>> = { ...before };
  for (const field of FIELDS) {
    const text = added[field];
    if (text !== undefined) after[field] = (before[field] ?? '') + text;
  }
  return after;
}

/** How many characters it has. */
export function reasoningLength(reasoning: Reasoning): number {
  return FIELDS.reduce((length, field) => length + (reasoning[field]?.length ?? 0), 0);
}
