import { SchemaError } from '../../json-schema/schema-error.js';
import { isJsonArray, isJsonObject, ownProperty, type JsonObject } from '../../json/json-values.js';
import { withLegalProperties } from './legal-properties.js';
import { conjunction } from './schema-conjunction.js';
import type { ModelTool } from '../models/model.js';
import {
  ProjectionBudget,
  ProjectionTooLarge,
  REQUEST_TOO_LARGE,
  RequestBudget,
} from './projection-budget.js';
import { SchemaProjector } from './schema-projector.js';
import type { LegalNames } from './tool-names.js';
import type { ToolRules } from './tool-rules.js';
import { topLevelProperties } from './top-level-properties.js';

/** Longest text of a rule that moves into the description. */
const MAX_RULE_LENGTH = 600;

/** Most parts of an `allOf` at the top that are written into the schema itself. */
const MAX_MERGED_PARTS = 16;

/** Keywords that providers refuse at the top of a tool's parameters. */
const topLevelRules = ['oneOf', 'anyOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else'] as const;

/** A schema that providers take, with what had to change; or why there is none. */
export type Projection =
  | {
      readonly schema: JsonObject;
      /** What the schema cannot say there, for the description; may be empty. */
      readonly rule: string;
      readonly changes: readonly string[];
      /** Names of properties, when the schema has some under others. */
      readonly properties?: LegalNames;
    }
  | { readonly refused: string };

/**
 * A tool's parameters as OpenAI and Anthropic take them: draft 2020-12, an object with `type` and `properties`, no
 * union at the top (the rule comes back as text for the description), no references, arrays with `items`, patterns
 * that the provider reads, properties at the top whose names it takes. The given schema is not changed. What a
 * provider cannot express gets weaker, never stronger: the hub checks every call anyway. Alone a property that only some
 * branches of a union at the top name is told as they say.
 * @param rules of the provider
 * @param request what the tools of one request may hold together
 */
export function projectParameters(
  parameters: unknown,
  rules: ToolRules,
  request: RequestBudget = new RequestBudget(),
): Projection {
  if (!isJsonObject(parameters)) return { refused: 'the parameters are no JSON Schema object' };
  try {
    const projector = new SchemaProjector(parameters, new ProjectionBudget(request), rules.takesAnyPattern);
    return atTop(projector.project().schema, rules, projector.changes);
  } catch (error) {
    if (error instanceof ProjectionTooLarge) return { refused: error.message };
    if (error instanceof SchemaError)
      return { refused: `the parameters are no usable schema: ${error.message}` };
    throw error;
  }
}

/** The parameters of a tool of a request, as {@link projectParameters} gives them. */
export function projectTool({ parameters }: ModelTool, rules: ToolRules, request: RequestBudget): Projection {
  return request.isSpent
    ? { refused: REQUEST_TOO_LARGE }
    : projectParameters(parameters.parse(), rules, request);
}

function atTop(whole: JsonObject, { propertyName }: ToolRules, changes: Set<string>): Projection {
  const top = withoutAllOf(whole);
  const moved = topLevelRules.filter((keyword) => Object.hasOwn(top, keyword));
  const rules = moved.map((keyword) => JSON.stringify({ [keyword]: top[keyword] }).slice(0, MAX_RULE_LENGTH));
  for (const keyword of moved) changes.add(`'${keyword}' at the top moved into the description`);
  const kept = Object.fromEntries(Object.entries(top).filter(([keyword]) => isKept(keyword, moved)));
  const schema = { ...kept, type: 'object', properties: topLevelProperties(top) };
  const legal = withLegalProperties(schema, propertyName);
  return {
    ...legal,
    rule: rules.length === 0 ? '' : `The arguments must also satisfy: ${rules.join(' ')}`,
    changes: [...changes, ...legal.changes],
  };
}

/** The parts of `allOf` written into the schema itself, as far as they can be. */
function withoutAllOf(schema: JsonObject): JsonObject {
  const { allOf, ...rest } = schema;
  if (!isJsonArray(allOf) || allOf.length > MAX_MERGED_PARTS) return schema;
  let merged: JsonObject = rest;
  const left: unknown[] = [];
  for (const part of allOf.toReversed()) {
    // what describes the whole wins over what describes a part
    const both = isJsonObject(part) ? conjunction(part, merged) : undefined;
    if (both === undefined) left.unshift(part);
    else merged = both;
  }
  if (left.length === allOf.length) return schema;
  const inner = ownProperty(merged, 'allOf'); // that of a part
  const parts = [...left, ...(isJsonArray(inner) ? inner : [])];
  const { allOf: _inner, ...others } = merged;
  return parts.length === 0 ? others : { ...others, allOf: parts };
}

/** What is left unevaluated cannot be told once the forms that evaluate properties are gone. */
function isKept(keyword: string, moved: readonly string[]): boolean {
  if (keyword === 'unevaluatedProperties') return moved.length === 0;
  return !moved.includes(keyword);
}
