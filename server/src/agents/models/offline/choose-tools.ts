import { isJsonObject, ownProperty } from '../../../json/json-values.js';
import type { ModelTool } from '../model.js';
import { splitClauses, type Token } from './tokens.js';
import { contentStems, genericVerbs, isWeak } from './words.js';

/** Most tools that one instruction may choose. */
const MAX_CHOICES = 8;

/** Most parts of an instruction that are looked at for a tool. */
const MAX_CLAUSES = 64;

/** How much a match weighs. A name that is written out decides; a parameter's name only breaks a tie. */
const weights = {
  wholeName: 100,
  genericName: 1.5,
  name: 4,
  weakName: 1.5,
  description: 2,
  weakDescription: 0.5,
  parameter: 0.5,
};
/** What a word of the name costs that the instruction does not say. */
const SILENT_NAME_WORD = 0.25;
const THRESHOLD = 1.25;

/** A tool and the words by which it is found. */
export interface ToolProfile {
  readonly tool: ModelTool;
  /** The schema of its arguments. */
  readonly schema: unknown;
  readonly nameStems: ReadonlySet<string>;
  readonly descriptionStems: ReadonlySet<string>;
  readonly parameterStems: ReadonlySet<string>;
}

/** A tool that an instruction asks for, and the part that does. */
export interface Choice {
  readonly profile: ToolProfile;
  readonly clause: readonly Token[];
}

/** The words of a tool. */
export function profileTool(tool: ModelTool): ToolProfile {
  const schema = tool.parameters.parse();
  const properties = isJsonObject(schema) ? ownProperty(schema, 'properties') : undefined;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  return {
    tool,
    schema,
    nameStems: contentStems(tool.name),
    descriptionStems: contentStems(tool.description),
    parameterStems: contentStems(names.join(' ')),
  };
}

/**
 * The tools that an instruction asks for: for each part of it the one that fits best, the first of equals. A
 * part that fits none belongs to the part before it, or to the first that fits one.
 */
export function chooseTools(tokens: readonly Token[], profiles: readonly ToolProfile[]): Choice[] {
  const choices: { profile: ToolProfile; clause: Token[] }[] = [];
  let leading: Token[] = [];
  for (const [index, clause] of splitClauses(tokens).entries()) {
    const isRead = index < MAX_CLAUSES && choices.length < MAX_CHOICES;
    const profile = isRead ? bestFor(clause, profiles) : undefined;
    if (profile !== undefined) {
      choices.push({ profile, clause: [...leading, ...clause] });
      leading = [];
    } else {
      (choices.at(-1)?.clause ?? leading).push(...clause);
    }
  }
  return choices;
}

function bestFor(clause: readonly Token[], profiles: readonly ToolProfile[]): ToolProfile | undefined {
  const said = clause.filter(({ kind }) => kind === 'word');
  const names = new Set(said.map(({ lower }) => lower));
  const stems = contentStems(said.map(({ text }) => text).join(' '));
  let best: { profile: ToolProfile; score: number } | undefined;
  for (const profile of profiles) {
    const score = scoreTool(profile, names, stems);
    if (score >= THRESHOLD && score > (best?.score ?? 0)) best = { profile, score };
  }
  return best?.profile;
}

function scoreTool(profile: ToolProfile, names: ReadonlySet<string>, stems: ReadonlySet<string>): number {
  const { tool, nameStems, descriptionStems, parameterStems } = profile;
  let score = nameWeight(tool.name, names);
  for (const stem of nameStems) {
    if (stems.has(stem)) score += isWeak(stem) && nameStems.size > 1 ? weights.weakName : weights.name;
    else score -= SILENT_NAME_WORD;
  }
  for (const stem of stems) {
    if (descriptionStems.has(stem)) score += isWeak(stem) ? weights.weakDescription : weights.description;
    if (parameterStems.has(stem)) score += weights.parameter;
  }
  return score;
}

/** What it weighs that a tool's whole name is written out: a plain word may stand there by chance. */
function nameWeight(name: string, names: ReadonlySet<string>): number {
  if (!names.has(name.toLowerCase())) return 0;
  if (!/^\p{L}\p{Ll}*$/u.test(name)) return weights.wholeName;
  return genericVerbs.has(name.toLowerCase()) ? weights.genericName : 0;
}
