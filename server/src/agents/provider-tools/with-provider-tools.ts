import { JsonText } from '../../json/json-text.js';
import type {
  AssistantContent,
  Model,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelTool,
} from '../models/model.js';
import { CompiledTools, MAX_PROVIDER_TOOLS } from './compiled-tools.js';
import type { ToolRules } from './tool-rules.js';

/**
 * Puts the compiler of tools in front of an adapter: the adapter sees names and schemas that its provider takes,
 * the run sees the real ones.
 */
export function withProviderTools(adapter: Model, rules: ToolRules): Model {
  return new ProviderToolsModel(adapter, rules);
}

class ProviderToolsModel implements Model {
  readonly maxTools = MAX_PROVIDER_TOOLS;
  /** The same tools come with every step of a run: they are compiled once. */
  readonly #compiled = new WeakMap<readonly ModelTool[], CompiledTools>();

  constructor(
    private readonly adapter: Model,
    private readonly rules: ToolRules,
  ) {}

  prepare(tools: readonly ModelTool[]): readonly string[] {
    return [...this.#compile(tools).warnings, ...(this.adapter.prepare?.(tools) ?? [])];
  }

  async *stream({ messages, tools, signal }: ModelRequest): AsyncIterable<ModelPart> {
    const compiled = this.#compile(tools);
    const mapped = messages.map((message) => messageToProvider(message, compiled));
    for await (const part of this.adapter.stream({ messages: mapped, tools: compiled.tools, signal })) {
      if (part.type === 'tool-call') yield { ...part, ...compiled.toReal(part) };
      else yield part;
    }
  }

  #compile(tools: readonly ModelTool[]): CompiledTools {
    let compiled = this.#compiled.get(tools);
    if (compiled === undefined) this.#compiled.set(tools, (compiled = new CompiledTools(tools, this.rules)));
    return compiled;
  }
}

function messageToProvider(message: ModelMessage, compiled: CompiledTools): ModelMessage {
  if (message.role === 'assistant') {
    return { role: 'assistant', content: message.content.map((part) => partToProvider(part, compiled)) };
  }
  if (message.role !== 'tool') return message;
  const results = message.results.map((result) => ({
    ...result,
    name: compiled.nameToProvider(result.name),
  }));
  return { role: 'tool', results };
}

function partToProvider(part: AssistantContent, compiled: CompiledTools): AssistantContent {
  if (part.type !== 'tool-call') return part;
  const { name, args } = compiled.toProvider({ name: part.name, args: part.args.text });
  return { ...part, name, args: new JsonText(args) };
}
