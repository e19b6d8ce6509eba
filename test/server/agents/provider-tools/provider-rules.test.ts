import type { Anthropic } from '@anthropic-ai/sdk';
import { functionSpecSchema } from '@remotes-hub/protocol';
import * as fc from 'fast-check';
import type { OpenAI } from 'openai';
import { expect, test } from 'vitest';
import { anthropicTool } from '../../../../server/src/agents/models/anthropic.js';
import type { ModelTool } from '../../../../server/src/agents/models/model.js';
import { chatTool } from '../../../../server/src/agents/models/openai-messages.js';
import { CompiledTools } from '../../../../server/src/agents/provider-tools/compiled-tools.js';
import { toolRules } from '../../../../server/src/agents/provider-tools/tool-rules.js';
import { withProviderTools } from '../../../../server/src/agents/provider-tools/with-provider-tools.js';
import { modelTool } from '../../../../server/src/agents/run-tools.js';
import { compileSchema, SchemaError } from '../../../../server/src/json-schema/schema.js';
import { isJsonObject } from '../../../../server/src/json/json-values.js';
import { startModelServer, stream } from '../../../support/model-servers/scripted-server.js';
import { isSuitePresent, suiteNote, suiteSchemas } from '../../json-schema/public-suite.js';
import { ask, hello } from '../models/adapter.js';
import { helloStream, modelAt } from '../models/anthropic-fixtures.js';
import { brokenAnthropicRules, brokenOpenAiRules } from './provider-rules.js';
import { parameters as anyParameters } from './schema-arbitraries.js';

function exportedToOpenAi(tools: readonly ModelTool[]): OpenAI.ChatCompletionTool[] {
  return new CompiledTools(tools, toolRules['openai-compatible']).tools.map(chatTool);
}

function exportedToAnthropic(tools: readonly ModelTool[]): Anthropic.Tool[] {
  return new CompiledTools(tools, toolRules.anthropic).tools.map(anthropicTool);
}

function specOf(parameters: object) {
  return functionSpecSchema.parse({ name: 'f', parameters });
}

/** Whether a session may serve a function with these parameters. */
function isServed(schema: Record<string, unknown>): boolean {
  const { type = 'object' } = schema;
  if (![type].flat().includes('object')) return false;
  try {
    compileSchema(schema);
    return true;
  } catch (error) {
    if (error instanceof SchemaError) return false;
    throw error;
  }
}

test('RUN-21: whatever a session may serve keeps the rules of both providers', () => {
  let served = 0;
  fc.assert(
    fc.property(fc.array(anyParameters, { maxLength: 4 }), (given) => {
      const tools = given
        .filter(isServed)
        .map((schema, index) => modelTool({ name: `f${index}`, spec: specOf(schema) }));
      served += tools.length;
      expect(brokenOpenAiRules(exportedToOpenAi(tools))).toEqual([]);
      expect(brokenAnthropicRules(exportedToAnthropic(tools))).toEqual([]);
    }),
    { numRuns: 500, seed: 20_261_130 },
  );
  expect(served).toBeGreaterThan(250);
});

test('RUN-21 K051 K052: whatever the names and however many, the list keeps the rules of both providers', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 90 });
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 30 }), fc.integer({ min: 0, max: 300 }), (names, more) => {
      const plain = Array.from({ length: more }, (_, index) => `plain-${index}`);
      const description = 'd'.repeat(more * 10);
      const tools = [...new Set([...names, ...plain])].map((each) =>
        modelTool({ name: each, spec: { name: each, description } }),
      );
      expect(brokenOpenAiRules(exportedToOpenAi(tools))).toEqual([]);
      expect(brokenAnthropicRules(exportedToAnthropic(tools))).toEqual([]);
    }),
    { numRuns: 60, seed: 20_261_130 },
  );
});

test.skipIf(!isSuitePresent)(
  `the schemas of the public suite keep the rules of both providers${suiteNote}`,
  () => {
    const schemas = suiteSchemas().filter(isJsonObject).filter(isServed);
    expect(schemas.length).toBeGreaterThan(300);
    for (const schema of schemas) {
      const tool = modelTool({ name: 'f', spec: specOf(schema) });
      expect(brokenOpenAiRules(exportedToOpenAi([tool])), JSON.stringify(schema)).toEqual([]);
      expect(brokenAnthropicRules(exportedToAnthropic([tool])), JSON.stringify(schema)).toEqual([]);
    }
  },
);

test('the adapters send the exported lists as they are', async () => {
  const schemas = fc.sample(anyParameters, { numRuns: 60, seed: 7 }).filter(isServed).slice(0, 20);
  const tools = schemas.map((schema, index) => modelTool({ name: `f.${index}`, spec: specOf(schema) }));
  await using server = await startModelServer([stream(helloStream)]);
  const model = withProviderTools(await modelAt(server), toolRules.anthropic);

  await ask(model, hello, tools);

  expect(schemas).toHaveLength(20);
  expect(server.requests[0]?.body['tools']).toEqual(exportedToAnthropic(tools));
  expect(brokenAnthropicRules(exportedToAnthropic(tools))).toEqual([]);
});

test('the rules are rules: a broken request is found', () => {
  const broken = {
    type: 'object',
    anyOf: [],
    properties: { 'a b': { type: 'array' }, c: { $ref: '#' } },
  } as const;
  const properties = { ...broken.properties, d: { pattern: '(?=a)' } };
  const openAi = brokenOpenAiRules([
    { type: 'function', function: { name: 'a.b', parameters: { ...broken, properties } } },
  ]);
  expect(openAi).toEqual([
    "the name 'a.b'",
    "'anyOf' at the top level",
    'no draft 2020-12: data/anyOf must NOT have fewer than 1 items',
    'array schema missing items',
    'a reference',
    'regex lookaround is not supported',
  ]);
  const anthropic = brokenAnthropicRules([{ name: 'f', input_schema: { ...broken, properties } }]);
  expect(anthropic).toContain('Property keys should match pattern: a b');
});

test.each([
  ['a list of items', { items: [{}] }, /no draft 2020-12/u],
  ["draft-04's exclusiveMinimum", { exclusiveMinimum: true }, /no draft 2020-12/u],
  ['a flag for required', { required: true }, /no draft 2020-12/u],
  ['an unknown type', { type: 'text' }, /no draft 2020-12/u],
  ['an empty enum', { enum: [] }, /non-empty/u],
  ['a pattern that Python cannot read', { pattern: '^\\p{L}$' }, /is not a 'regex'/u],
  ['half a character', { description: 'x\uD83D' }, /half a character/u],
])('a property with %s breaks a rule', (_what, property, expected) => {
  const parameters = { type: 'object', properties: { p: property } };
  expect(brokenOpenAiRules([{ type: 'function', function: { name: 'f', parameters } }])).toContainEqual(
    expect.stringMatching(expected),
  );
});
