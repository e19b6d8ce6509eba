import { isJsonObject, ownProperty, type JsonObject } from '../../json/json-values.js';
import type { ModelPart } from './model.js';

interface OpenCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  args: string;
  extra: JsonObject | undefined;
}

/** What a delta says; what it leaves out is empty. */
interface ReadDelta {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly args: string;
  readonly extra: JsonObject | undefined;
}

/**
 * Puts the deltas of tool calls together. Servers differ: most number the calls by `index`, some give every call
 * the same index with ids of its own, some give neither, some repeat the name, some send the id late.
 *
 * - A delta with a known id goes on with that call. Another id begins a call, unless its index has one that still
 *   lacks its id, or the delta names no function: such an id is a mistake of the server.
 * - A delta without an id goes on with the call of its index, else with the last one, unless it names another
 *   function, or the same one although the arguments of that call are whole.
 */
export class OpenAiToolCalls {
  readonly #calls: OpenCall[] = [];

  get size(): number {
    return this.#calls.length;
  }

  /** True when the last call has got no arguments at all. */
  get isLastBlank(): boolean {
    return this.#calls.at(-1)?.args.trim() === '';
  }

  /** @returns how many characters it added to what is held */
  add(delta: unknown): number {
    if (!isJsonObject(delta)) return 0;
    const read = readDelta(delta);
    const call = this.#find(read) ?? this.#open(read);
    if (call.id === '') call.id = read.id;
    if (call.name === '') call.name = read.name;
    call.args += read.args;
    if (read.extra === undefined) return read.args.length;
    call.extra = read.extra;
    return read.args.length + JSON.stringify(read.extra).length;
  }

  /** The whole calls, in the order in which they began, each after what of it must come back. */
  *parts(): Iterable<ModelPart> {
    for (const { id, name, args, extra } of this.#calls) {
      if (extra !== undefined) yield { type: 'provider-data', data: { extra_content: extra } };
      yield { type: 'tool-call', callId: id, name, args };
    }
  }

  #find(delta: ReadDelta): OpenCall | undefined {
    const { index, id, name } = delta;
    const isIndexed = (call: OpenCall): boolean => index !== undefined && call.index === index;
    if (id === '') {
      const call = index === undefined ? this.#calls.at(-1) : this.#calls.findLast(isIndexed);
      return call !== undefined && beginsAnother(call, delta) ? undefined : call;
    }
    const known = this.#calls.findLast(
      (call) => call.id === id && (isIndexed(call) || call.index === undefined || index === undefined),
    );
    if (known !== undefined) return known;
    const call = this.#calls.findLast(isIndexed);
    if (call === undefined || name === '') return call;
    return call.id === '' && !beginsAnother(call, delta) ? call : undefined;
  }

  #open({ index, id }: ReadDelta): OpenCall {
    const call = { index, id, name: '', args: '', extra: undefined };
    this.#calls.push(call);
    return call;
  }
}

function beginsAnother(call: OpenCall, { name }: ReadDelta): boolean {
  return name !== '' && call.name !== '' && (name !== call.name || isWhole(call.args));
}

function isWhole(args: string): boolean {
  if (!args.endsWith('}')) return false;
  try {
    JSON.parse(args);
    return true;
  } catch {
    return false;
  }
}

function readDelta(delta: JsonObject): ReadDelta {
  const index = ownProperty(delta, 'index');
  const called = ownProperty(delta, 'function');
  const args = isJsonObject(called) ? ownProperty(called, 'arguments') : '';
  return {
    index: typeof index === 'number' ? index : undefined,
    id: textOf(ownProperty(delta, 'id')),
    name: isJsonObject(called) ? textOf(ownProperty(called, 'name')) : '',
    args: isJsonObject(args) ? JSON.stringify(args) : textOf(args), // some send the object itself
    extra: extraContentOf(delta),
  };
}

/** What Gemini signs a call with; it refuses a conversation in which the call has come back without. */
export function extraContentOf(data: unknown): JsonObject | undefined {
  const extra = isJsonObject(data) ? ownProperty(data, 'extra_content') : undefined;
  return isJsonObject(extra) ? extra : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
