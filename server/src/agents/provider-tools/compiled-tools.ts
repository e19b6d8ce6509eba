import { JsonText } from '../../json/json-text.js';
import type { ModelTool } from '../models/model.js';
import { sendableText } from './keyword-kinds.js';
import { scanObject, withRenamedMembers } from './object-text.js';
import { RequestBudget } from './projection-budget.js';
import { toolNames, type LegalNames } from './tool-names.js';
import type { ToolRules } from './tool-rules.js';
import { projectTool } from './tool-schemas.js';

/** Most tools of one request; OpenAI's bound, taken for all. */
export const MAX_PROVIDER_TOOLS = 128;

/** Longest description that every provider takes, in characters. */
export const MAX_DESCRIPTION_LENGTH = 1_024;

const callFunctionParameters = JsonText.of({
  type: 'object',
  properties: {
    name: { type: 'string', description: 'The exact name, as list_functions shows it.' },
    arguments: { type: 'object', description: 'The arguments of the function.', properties: {} },
  },
  required: ['name', 'arguments'],
});

/** A call as it is written on one side. */
export interface WrittenCall {
  readonly name: string;
  readonly args: string;
}

/** The tools of one run as a provider takes them, and the way of every name and call there and back. */
export class CompiledTools {
  /** What a request names. */
  readonly tools: readonly ModelTool[];
  /** Tools that were left out, and why. */
  readonly warnings: readonly string[];
  readonly #names: LegalNames;
  /** Names of properties, by the real name of a tool that has some under others. */
  readonly #properties = new Map<string, LegalNames>();
  /** Real names of tools that are reached through `call_function` alone. */
  readonly #indirect: ReadonlySet<string>;
  readonly #callFunction: string;

  constructor(tools: readonly ModelTool[], rules: ToolRules) {
    const warnings: string[] = [];
    const budget = new RequestBudget();
    const usable = tools.flatMap((tool) => {
      const projection = projectTool(tool, rules, budget);
      if ('schema' in projection) return [{ tool, projection }];
      warnings.push(`tool '${tool.name.slice(0, 128)}' is left out: ${projection.refused}`);
      return [];
    });
    this.#names = toolNames(usable.map(({ tool }) => tool.name));
    const isOver = usable.length > MAX_PROVIDER_TOOLS;
    const direct = isOver ? usable.slice(0, MAX_PROVIDER_TOOLS - 1) : usable;
    this.#indirect = new Set(usable.slice(direct.length).map(({ tool }) => tool.name));
    this.#callFunction = unusedName(
      'call_function',
      usable.map(({ tool }) => tool.name),
    );
    this.warnings = warnings;
    for (const { tool, projection } of direct) {
      if (projection.properties !== undefined) this.#properties.set(tool.name, projection.properties);
    }
    const compiled = direct.map(({ tool, projection }) => ({
      name: this.#names.toProvider(tool.name),
      description: describe(tool.description, projection.rule),
      parameters: JsonText.of(projection.schema),
    }));
    this.tools = isOver ? [...compiled, this.#callFunctionTool()] : compiled;
  }

  /** A call of the run as the provider knows it. */
  toProvider({ name, args }: WrittenCall): WrittenCall {
    if (!this.#indirect.has(name)) {
      const properties = this.#properties.get(name);
      const renamed =
        properties === undefined ? args : withRenamedMembers(args, (each) => properties.toProvider(each));
      return { name: this.#names.toProvider(name), args: renamed };
    }
    return { name: this.#callFunction, args: `{"name":${JSON.stringify(name)},"arguments":${args}}` };
  }

  /** The name alone, of a tool result. */
  nameToProvider(name: string): string {
    return this.#indirect.has(name) ? this.#callFunction : this.#names.toProvider(name);
  }

  /** A call of the model as the run knows it. */
  toReal({ name, args }: WrittenCall): WrittenCall {
    if (this.#indirect.size > 0 && name === this.#callFunction) return unwrap(args) ?? { name, args };
    const real = this.#names.toReal(name);
    const properties = this.#properties.get(real);
    if (properties === undefined) return { name: real, args };
    return { name: real, args: withRenamedMembers(args, (each) => properties.toReal(each)) };
  }

  #callFunctionTool(): ModelTool {
    const description = 'Calls a function that list_functions shows and that is not among your other tools.';
    return { name: this.#callFunction, description, parameters: callFunctionParameters };
  }
}

/** A name that no tool has: `name`, `hub_name`, `hub_2_name` and so on. */
export function unusedName(name: string, taken: readonly string[]): string {
  if (!taken.includes(name)) return name;
  let candidate = `hub_${name}`;
  for (let count = 2; taken.includes(candidate); count += 1) candidate = `hub_${count}_${name}`;
  return candidate;
}

/** The call inside a `call_function`; its arguments as the text they were written in. */
function unwrap(text: string): WrittenCall | undefined {
  const call = scanObject(text);
  const name = call?.member('name')?.parse();
  if (call === undefined || typeof name !== 'string') return undefined;
  return { name, args: call.member('arguments')?.text ?? '' };
}

/** A description with what its schema cannot say at a provider; not cut yet. */
export function withRule(description: string, rule: string): string {
  return rule === '' ? description : `${description}\n${rule}`.trim();
}

function describe(description: string, rule: string): string {
  const text = withRule(description, rule);
  const isCut = text.length > MAX_DESCRIPTION_LENGTH;
  // cut or not, it may end with half a character, for which providers refuse the whole request
  return sendableText(isCut ? `${text.slice(0, MAX_DESCRIPTION_LENGTH - 1)}…` : text);
}
