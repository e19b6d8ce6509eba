import type { ModelPart } from './model.js';

/** A piece of a tool call as servers send it; every field may be missing. */
export interface ToolCallDelta {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null;
}

interface OpenCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  args: string;
}

/**
 * Puts the deltas of tool calls together. Servers differ: most number them by `index`, some give every call the
 * same index with ids of its own, some give neither. A new id begins a new call; a delta without an id goes on
 * with the call of its index, else with the last one, unless it names a function and that call has its arguments.
 */
export class OpenAiToolCalls {
  readonly #calls: OpenCall[] = [];

  get size(): number {
    return this.#calls.length;
  }

  add(delta: ToolCallDelta): void {
    const id = delta.id ?? '';
    const name = delta.function?.name ?? '';
    const call = this.#find(delta.index ?? undefined, id, name) ?? this.#open(delta.index ?? undefined, id);
    if (call.name === '') call.name = name;
    call.args += delta.function?.arguments ?? '';
  }

  /** The whole calls, in the order in which they began. */
  *parts(): Iterable<ModelPart> {
    for (const { id, name, args } of this.#calls) yield { type: 'tool-call', callId: id, name, args };
  }

  #find(index: number | undefined, id: string, name: string): OpenCall | undefined {
    if (id !== '') return this.#calls.findLast((call) => call.id === id && call.index === index);
    if (index !== undefined) return this.#calls.findLast((call) => call.index === index);
    const last = this.#calls.at(-1);
    return name !== '' && last !== undefined && last.name !== '' ? undefined : last;
  }

  #open(index: number | undefined, id: string): OpenCall {
    const call = { index, id, name: '', args: '' };
    this.#calls.push(call);
    return call;
  }
}
