import type { JsonObject } from '@remotes-hub/protocol';
import { isJsonObject, parseJson } from '../json-values.js';
import type {
  ExecuteToolOptions,
  ModelContext,
  ModelContextTool,
  RegisteredTool,
  RegisterToolOptions,
} from './model-context.js';

const NAME_PATTERN = /^[\w.-]{1,128}$/u;

/** A page's own model context: what browsers have, and two methods that they had once. */
export interface PageModelContext extends ModelContext {
  /** Called at each `toolchange`. */
  ontoolchange: ((event: Event) => unknown) | null;
  /** Unregisters a tool. Browsers have dropped it: a `signal` of `registerTool` works everywhere. */
  unregisterTool(name: string): void;
  /** Registers these tools in place of all others. Browsers have dropped it. @throws as `registerTool` rejects */
  provideContext(context: { readonly tools?: readonly ModelContextTool[] }): void;
}

/**
 * Makes a model context of the page's own, for browsers without WebMCP, workers and tests. It keeps to what browsers
 * do, so that it can stand in for `document.modelContext`; but a tool that throws rejects with its own error, of
 * which a browser says only that there was one.
 */
export function createModelContext(): PageModelContext {
  return new OwnModelContext();
}

class OwnModelContext extends EventTarget implements PageModelContext {
  ontoolchange: ((event: Event) => unknown) | null = null;
  readonly #tools = new Map<string, ModelContextTool>();

  async registerTool(tool: ModelContextTool, { signal }: RegisterToolOptions = {}): Promise<undefined> {
    checkTool(tool);
    if (this.#tools.has(tool.name)) throw invalid(`the tool '${tool.name}' is registered already`);
    signal?.throwIfAborted();
    this.#tools.set(tool.name, tool);
    signal?.addEventListener('abort', () => this.#remove(tool), { once: true });
    this.#changed();
  }

  unregisterTool(name: string): void {
    const tool = this.#tools.get(name);
    if (tool !== undefined) this.#remove(tool);
  }

  provideContext({ tools = [] }: { readonly tools?: readonly ModelContextTool[] }): void {
    for (const tool of tools) checkTool(tool);
    if (new Set(tools.map(({ name }) => name)).size < tools.length) throw invalid('two tools have one name');
    this.#tools.clear();
    for (const tool of tools) this.#tools.set(tool.name, tool);
    this.#changed();
  }

  async getTools(): Promise<readonly RegisteredTool[]> {
    return Array.from(this.#tools.values(), describe);
  }

  async executeTool(
    { name }: RegisteredTool,
    input: object | string = {},
    { signal }: ExecuteToolOptions = {},
  ): Promise<string | null> {
    const tool = this.#tools.get(name);
    if (tool === undefined) throw new DOMException(`no tool '${name}' is registered`, 'UnknownError');
    signal?.throwIfAborted();
    const abort = new AbortController();
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        reject(signal?.reason);
        abort.abort(signal?.reason);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      run(tool, input, abort.signal)
        .then(resolve, reject)
        .finally(() => signal?.removeEventListener('abort', giveUp));
    });
  }

  #remove(tool: ModelContextTool): void {
    if (this.#tools.get(tool.name) !== tool) return; // another has the name by now
    this.#tools.delete(tool.name);
    this.#changed();
  }

  /** Told later, as browsers do: several changes of one task are seen as one. */
  #changed(): void {
    queueMicrotask(() => {
      const event = new Event('toolchange');
      this.dispatchEvent(event);
      this.ontoolchange?.(event);
    });
  }
}

async function run(
  tool: ModelContextTool,
  input: object | string,
  signal: AbortSignal,
): Promise<string | null> {
  const result = await tool.execute(copyOf(input), { signal });
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? null);
}

/** A copy, since what a tool does to its input is its own affair. @throws {TypeError} it is no object */
function copyOf(input: object | string): JsonObject {
  const copy = parseJson(typeof input === 'string' ? input : JSON.stringify(input));
  if (isJsonObject(copy)) return copy;
  throw new TypeError('input: expected an object');
}

function describe({
  name,
  title = '',
  description,
  inputSchema,
  annotations,
}: ModelContextTool): RegisteredTool {
  const schema = inputSchema === undefined ? undefined : parseJson(JSON.stringify(inputSchema));
  return {
    name,
    title,
    description,
    ...(isJsonObject(schema) ? { inputSchema: schema } : {}),
    ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
  };
}

function checkTool(tool: ModelContextTool): void {
  const { name, description, inputSchema } = tool;
  if (typeof name !== 'string' || !NAME_PATTERN.test(name)) {
    throw invalid('the name of a tool has 1 to 128 characters of A-Z a-z 0-9 _ - .');
  }
  if (typeof description !== 'string' || description === '')
    throw invalid(`the tool '${name}' has no description`);
  if (typeof tool.execute !== 'function') throw new TypeError(`the tool '${name}' has no function execute`);
  if (inputSchema !== undefined && !isJsonObject(parseJson(JSON.stringify(inputSchema)))) {
    throw new TypeError(`inputSchema of the tool '${name}': expected an object`);
  }
}

function invalid(message: string): DOMException {
  return new DOMException(message, 'InvalidStateError');
}
