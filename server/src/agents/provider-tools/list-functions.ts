import * as z from 'zod';
import type { JsonValue } from '@remotes-hub/protocol';
import { RemoteError } from '../../remotes/remote-error.js';
import type { ModelTool } from '../models/model.js';
import type { NativeTool } from '../native-tool.js';

/** Functions of one answer: their schemas are read by the model. */
const PAGE_SIZE = 20;

const argumentsSchema = z.object({
  query: z.string().max(200).optional(),
  offset: z.int().min(0).max(100_000).optional(),
});

const parameters = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'Words that the name or the description should hold.' },
    offset: {
      type: 'integer',
      minimum: 0,
      description: 'How many to skip: the nextOffset of the answer before.',
    },
  },
};

/** A tool that shows all functions of a run, for models that take fewer at once; those not among its tools are called by `call_function`. */
export function listFunctionsTool(name: string, tools: readonly ModelTool[]): NativeTool {
  const description = `Lists the ${tools.length} functions there are, ${PAGE_SIZE} at a time, with their parameters.`;
  return {
    spec: { name, description, parameters },
    run: (args) => {
      const parsed = argumentsSchema.safeParse(args);
      if (!parsed.success)
        throw new RemoteError('invalid-arguments', `${name}: expected {query?: string, offset?: integer}`);
      return listPage(tools, parsed.data.query ?? '', parsed.data.offset ?? 0);
    },
  };
}

function listPage(tools: readonly ModelTool[], query: string, offset: number): JsonValue {
  const words = query
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== '');
  const found = tools.filter(({ name, description }) => {
    const text = `${name} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const page = found.slice(offset, offset + PAGE_SIZE);
  const next = offset + page.length;
  return {
    total: found.length,
    functions: page.map((tool) => ({
      name: tool.name,
      description: tool.description,
      parameters: tool.parameters.parse(),
    })),
    ...(next < found.length && { nextOffset: next }),
  };
}
