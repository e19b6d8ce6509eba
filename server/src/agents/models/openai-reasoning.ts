import { isJsonArray, isJsonObject, ownProperty, type JsonObject } from '../../json/json-values.js';

/** Where servers put what a model thought: DeepSeek and others the first, Ollama, vLLM and OpenRouter the second. */
const FIELDS = ['reasoning_content', 'reasoning'] as const;
type Field = (typeof FIELDS)[number];

/**
 * What a model thought, under the names that its server gave it. Some servers refuse a conversation that lacks it,
 * so it goes back as it came.
 */
export interface Reasoning extends Readonly<Partial<Record<Field, string>>> {
  /** OpenRouter's pieces, signed and encrypted ones among them, in their order. */
  readonly reasoning_details?: readonly JsonObject[];
}

/** The reasoning in a delta, or in what this adapter kept; nothing in what is neither. */
export function reasoningOf(data: unknown): Reasoning {
  if (!isJsonObject(data)) return {};
  const texts = FIELDS.map((field) => [field, ownProperty(data, field)] as const);
  const details = ownProperty(data, 'reasoning_details');
  const pieces = isJsonArray(details) ? details.filter(isJsonObject) : [];
  return {
    ...Object.fromEntries(texts.filter(([, text]) => typeof text === 'string')),
    ...(pieces.length > 0 && { reasoning_details: pieces }),
  };
}

/** Puts the reasoning of one answer together. */
export class OpenAiReasoning {
  readonly #texts: Partial<Record<Field, string>> = {};
  readonly #pieces: JsonObject[] = [];

  /** @returns how many characters it added to what is held */
  add(delta: unknown): number {
    const { reasoning_details: pieces = [], ...texts } = reasoningOf(delta);
    let characters = 0;
    for (const field of FIELDS) {
      const text = texts[field];
      if (text === undefined) continue;
      this.#texts[field] = (this.#texts[field] ?? '') + text;
      characters += text.length;
    }
    for (const piece of pieces) {
      this.#addPiece(piece);
      characters += JSON.stringify(piece).length;
    }
    return characters;
  }

  /**
   * The whole, when the server wants it back.
   * @param hasCalls with calls also empty reasoning goes back: DeepSeek refuses a call whose reasoning is missing
   */
  whole(hasCalls: boolean): Reasoning | undefined {
    const texts = Object.values(this.#texts);
    if (this.#pieces.length > 0) return { ...this.#texts, reasoning_details: this.#pieces };
    return texts.some((text) => hasCalls || text !== '') ? this.#texts : undefined;
  }

  /** Text comes in pieces of pieces: those of one block become one, with the signature that comes last. */
  #addPiece(piece: JsonObject): void {
    const last = this.#pieces.at(-1);
    if (last === undefined || !isText(last) || !isText(piece) || last['index'] !== piece['index']) {
      this.#pieces.push(piece);
      return;
    }
    const known = Object.entries(piece).filter(([, value]) => value !== null);
    const text = `${textOf(last)}${textOf(piece)}`;
    this.#pieces[this.#pieces.length - 1] = { ...last, ...Object.fromEntries(known), text };
  }
}

function isText(piece: JsonObject): boolean {
  return piece['type'] === 'reasoning.text';
}

function textOf(piece: JsonObject): string {
  return typeof piece['text'] === 'string' ? piece['text'] : '';
}
