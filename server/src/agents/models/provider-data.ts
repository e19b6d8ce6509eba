import { isJsonObject } from '../../json/json-values.js';
import type { AssistantContent, Model, ModelMessage, ModelPart, ModelRequest, ModelTool } from './model.js';

/** What {@link withOwnData} makes of an adapter's data. */
interface OriginData {
  readonly origin: string;
  readonly data: unknown;
}

/**
 * Puts a guard in front of an adapter: it gets back the provider data of its own origin alone. A conversation may go
 * on with another agent, and a provider refuses the signatures, and often the very fields, of another one.
 * @param origin what says the provider, its place and the model
 */
export function withOwnData(adapter: Model, origin: string): Model {
  return new OwnDataModel(adapter, origin);
}

class OwnDataModel implements Model {
  constructor(
    private readonly adapter: Model,
    private readonly origin: string,
  ) {}

  prepare(tools: readonly ModelTool[]): readonly string[] {
    return this.adapter.prepare?.(tools) ?? [];
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelPart> {
    const messages = request.messages.map((message) => this.#own(message));
    for await (const part of this.adapter.stream({ ...request, messages })) {
      if (part.type !== 'provider-data') yield part;
      else {
        const data: OriginData = { origin: this.origin, data: part.data };
        yield { type: 'provider-data', data };
      }
    }
  }

  #own(message: ModelMessage): ModelMessage {
    if (message.role !== 'assistant') return message;
    const content = message.content.flatMap((part): AssistantContent[] => {
      if (part.type !== 'provider-data') return [part];
      const { data } = part;
      if (!isJsonObject(data) || data['origin'] !== this.origin) return [];
      return [{ type: 'provider-data', data: data['data'] }];
    });
    return { role: 'assistant', content };
  }
}
