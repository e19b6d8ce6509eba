import type { Anthropic } from '@anthropic-ai/sdk';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { OpenAI } from 'openai';
import { isJsonArray, isJsonObject, type JsonObject } from '../../../../server/src/json/json-values.js';

/*
 * What the providers' documentation and their refusals (400) say of the tools of a request. Each function gives the
 * rules that are broken, in words; a request with one of them would be refused whole. Quoted comments are the texts
 * of refusals.
 */

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** Our own bound: no provider documents one for tools that are not strict. */
const MAX_NESTING = 64;

/**
 * OpenAI: API reference, "Create chat completion", `tools` ("a max of 128 functions"; names "a-z, A-Z, 0-9, or contain
 * underscores and dashes, with a maximum length of 64"), and what its API answers: "Invalid schema for function …".
 */
export function brokenOpenAiRules(tools: readonly OpenAI.ChatCompletionTool[]): string[] {
  const problems = brokenListRules(
    tools.map((tool) => (tool.type === 'function' ? tool.function.name : '')),
    /^[a-zA-Z0-9_-]{1,64}$/u,
  );
  for (const tool of tools) {
    if (tool.type !== 'function') continue;
    const { description = '', parameters = {}, strict } = tool.function;
    // "string too long. Expected a string with maximum length 1024"
    if (description.length > 1_024) problems.push('description: string too long');
    if (strict === true) problems.push('strict demands that every property is required');
    problems.push(...brokenParameterRules(parameters));
    visit(parameters, (schema) => {
      const patterns = [schema['pattern'] ?? '', ...Object.keys(objectOf(schema['patternProperties']))];
      for (const pattern of patterns) {
        if (typeof pattern !== 'string') continue;
        // "Invalid JSON schema: regex lookaround is not supported"
        if (/\(\?<?[=!]/u.test(pattern)) problems.push('regex lookaround is not supported');
        // "'…' is not a 'regex'": patterns are compiled by Python's re, which knows fewer escapes
        else if (/\\[pPckzu](?![0-9a-fA-F]{4})|\(\?<|\[\^?\]/u.test(pattern))
          problems.push(`'${pattern}' is not a 'regex'`);
      }
    });
  }
  return problems;
}

/**
 * Anthropic: "Define tools" of its documentation (names match ^[a-zA-Z0-9_-]{1,64}$; its API has come to take 128), and
 * what its API answers: "tools.0.custom.input_schema: …".
 */
export function brokenAnthropicRules(tools: readonly Anthropic.Tool[]): string[] {
  const problems = brokenListRules(
    tools.map(({ name }) => name),
    /^[a-zA-Z0-9_-]{1,64}$/u,
  );
  for (const { input_schema: schema } of tools) {
    problems.push(...brokenParameterRules({ ...schema }));
    // "input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"; deeper ones are free
    for (const name of Object.keys(objectOf(schema.properties))) {
      if (!/^[a-zA-Z0-9_.-]{1,64}$/u.test(name)) problems.push(`Property keys should match pattern: ${name}`);
    }
  }
  return problems;
}

function brokenListRules(names: readonly string[], legal: RegExp): string[] {
  const problems = names.filter((name) => !legal.test(name)).map((name) => `the name '${name}'`);
  // "tools: Tool names must be unique."
  if (new Set(names).size < names.length) problems.push('tool names must be unique');
  // OpenAI: "Invalid 'tools': array too long. Expected an array with maximum length 128"
  if (names.length > 128) problems.push('array too long: at most 128 tools');
  return problems;
}

/** What both ask of parameters. */
function brokenParameterRules(parameters: JsonObject): string[] {
  const problems: string[] = [];
  if (parameters['type'] !== 'object') problems.push('type must be "object"');
  // OpenAI: "In context=(), object schema missing properties"
  if (!isJsonObject(parameters['properties'])) problems.push('object schema missing properties');
  // OpenAI: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level";
  // Anthropic: "input_schema does not support oneOf, allOf, or anyOf at the top level"
  for (const keyword of ['oneOf', 'anyOf', 'allOf', 'enum', 'const', 'not', 'if']) {
    if (Object.hasOwn(parameters, keyword)) problems.push(`'${keyword}' at the top level`);
  }
  // Anthropic: "JSON schema is invalid. It must match JSON Schema draft 2020-12"
  if (ajv.validateSchema(parameters) !== true) problems.push(`no draft 2020-12: ${ajv.errorsText()}`);
  let schemas = 0;
  visit(parameters, (schema, depth) => {
    schemas += 1;
    if (depth > MAX_NESTING) problems.push('nested too deeply');
    const types = [schema['type']].flat();
    // OpenAI: "In context=('properties', 'x'), array schema missing items"
    if (types.includes('array') && !isJsonObject(schema['items']))
      problems.push('array schema missing items');
    // our own promise: references are resolved, and not every server with these interfaces follows them
    if (Object.hasOwn(schema, '$ref') || Object.hasOwn(schema, '$defs')) problems.push('a reference');
    if (isJsonArray(schema['enum']) && schema['enum'].length === 0)
      problems.push('enum [] should be non-empty');
  });
  // Anthropic: "The request body is not valid JSON: no low surrogate in string"
  if (/\\ud[89a-f][0-9a-f]{2}/u.test(JSON.stringify(parameters).replaceAll('\\\\', '')))
    problems.push('half a character');
  if (schemas > 4_000 || JSON.stringify(parameters).length > 1_000_000) problems.push('too large');
  return problems;
}

const single = ['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else'];
const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const maps = ['properties', 'patternProperties', 'dependentSchemas', 'dependencies'];

/** Calls back for every schema in a schema, data such as `const` and `examples` left out. */
function visit(schema: unknown, seen: (schema: JsonObject, depth: number) => void, depth = 0): void {
  if (!isJsonObject(schema)) return;
  seen(schema, depth);
  for (const keyword of [...single, 'unevaluatedProperties', 'unevaluatedItems', 'contentSchema'])
    visit(schema[keyword], seen, depth + 1);
  for (const keyword of lists) {
    for (const branch of isJsonArray(schema[keyword]) ? schema[keyword] : []) visit(branch, seen, depth + 1);
  }
  for (const keyword of maps) {
    for (const branch of Object.values(objectOf(schema[keyword]))) visit(branch, seen, depth + 1);
  }
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
