import { JsonText } from '../../../json/json-text.js';
import type { Choice } from './choose-tools.js';
import { Clause } from './clause.js';
import { findLeftOver } from './left-over-values.js';
import { findNamed } from './named-values.js';
import { readParameters, type Parameter } from './parameters.js';
import type { Token } from './tokens.js';

/** Arguments found in an instruction, and the names of the required ones that were not. */
export interface FilledArguments {
  readonly args: JsonText;
  readonly missing: readonly string[];
}

/**
 * Fills the arguments of a tool from the part of the instruction that chose it; what that part does not say may
 * stand in the rest. First what the words point at, then the required ones from what is left.
 */
export function fillArguments(
  { profile, clause }: Choice,
  instruction: readonly Token[],
  now: Date,
): FilledArguments {
  const parameters = readParameters(profile.schema);
  const toolStems = new Set([...profile.nameStems, ...profile.descriptionStems]);
  const values = new Map<string, unknown>();
  const used = new Set<Token>();
  for (const tokens of [clause, instruction]) {
    const words = new Clause(tokens, used);
    for (const parameter of listedFirst(parameters)) {
      if (values.has(parameter.name)) continue;
      if (tokens === instruction && !parameter.isRequired) continue;
      store(values, parameter, findNamed(parameter, words, now));
    }
    for (const parameter of wanted(parameters)) {
      if (!values.has(parameter.name)) store(values, parameter, findLeftOver(parameter, words, toolStems));
    }
  }
  const missing = parameters.filter(({ name, isRequired }) => isRequired && !values.has(name));
  return { args: writeArguments(parameters, values), missing: missing.map(({ name }) => name) };
}

/** Values that are told by themselves come before texts, which take whatever they can get. */
function listedFirst(parameters: readonly Parameter[]): Parameter[] {
  return [...parameters.filter((one) => !isText(one)), ...parameters.filter(isText)];
}

/** Those that must be filled; of a tool without required ones, the first text. */
function wanted(parameters: readonly Parameter[]): Parameter[] {
  const required = parameters.filter(({ isRequired }) => isRequired);
  if (required.length > 0) return required;
  return parameters.filter(isText).slice(0, 1);
}

function isText({ type, values }: Parameter): boolean {
  return type === 'string' && values === undefined;
}

function store(values: Map<string, unknown>, { name }: Parameter, value: unknown): void {
  if (value !== undefined) values.set(name, value);
}

/** In the order of the schema. Written by hand: a parameter may be called `__proto__`. */
function writeArguments(parameters: readonly Parameter[], values: ReadonlyMap<string, unknown>): JsonText {
  const found = parameters.filter(({ name }) => values.has(name));
  const members = found.map(({ name }) => `${JSON.stringify(name)}:${JSON.stringify(values.get(name))}`);
  return new JsonText(`{${members.join(',')}}`);
}
