import type { Anthropic } from '@anthropic-ai/sdk';
import * as fc from 'fast-check';
import type { OpenAI } from 'openai';
import { expect, test } from 'vitest';
import type {
  Model,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelTool,
} from '../../../../server/src/agents/models/model.js';
import { CompiledTools } from '../../../../server/src/agents/provider-tools/compiled-tools.js';
import { listFunctionsTool } from '../../../../server/src/agents/provider-tools/list-functions.js';
import { toolNames } from '../../../../server/src/agents/provider-tools/tool-names.js';
import { toolRules } from '../../../../server/src/agents/provider-tools/tool-rules.js';
import { projectParameters } from '../../../../server/src/agents/provider-tools/tool-schemas.js';
import { withProviderTools } from '../../../../server/src/agents/provider-tools/with-provider-tools.js';
import { JsonText } from '../../../../server/src/json/json-text.js';

const rules = toolRules['openai-compatible'];

function tool(
  name: string,
  parameters: unknown = { type: 'object', properties: {} },
  description = `the function ${name}`,
): ModelTool {
  return { name, description, parameters: JsonText.of(parameters) };
}

function projected(parameters: unknown) {
  const projection = projectParameters(parameters, rules);
  if (!('schema' in projection)) throw new Error(projection.refused);
  return projection;
}

test('K051: a legal name stays exactly; an illegal one becomes legal, the same in every run, and is found again', () => {
  const names = ['ok_fn', 'get.weather', 'a b', '读取', '9lives', 'repo/get'];
  const first = toolNames(names);
  const second = toolNames(names.toReversed());

  expect(first.toProvider('ok_fn')).toBe('ok_fn');
  for (const name of names) {
    expect(first.toProvider(name)).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/u);
    expect(second.toProvider(name)).toBe(first.toProvider(name));
    expect(first.toReal(first.toProvider(name))).toBe(name);
  }
});

test('K052: long names that differ at their end stay apart, with at most 64 characters', () => {
  const stem = `${'p'.repeat(40)}${'x'.repeat(70)}`;
  const names = toolNames([`${stem}_create`, `${stem}_delete`]);

  expect(names.toProvider(`${stem}_create`)).not.toBe(names.toProvider(`${stem}_delete`));
  expect(names.toProvider(`${stem}_create`)).toHaveLength(64);
});

test('K052: whatever the names, every provider name is legal, unique and leads back', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }), { maxLength: 40 }),
      (given) => {
        const names = toolNames(given);
        const mapped = given.map((name) => names.toProvider(name));
        expect(new Set(mapped).size).toBe(given.length);
        expect(mapped.every((name) => /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/u.test(name))).toBe(true);
        expect(mapped.map((name) => names.toReal(name))).toEqual(given);
      },
    ),
    { numRuns: 300 },
  );
});

test('K052: a name that looks like a mapped one keeps its own, and the other gives way', () => {
  const taken = toolNames(['a.b']).toProvider('a.b');
  const names = toolNames(['a.b', taken]);

  expect(names.toProvider(taken)).toBe(taken);
  expect(names.toProvider('a.b')).not.toBe(taken);
});

test('K057: a union at the top moves into the description; nested ones and the given schema stay', () => {
  const given = {
    type: 'object',
    properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
    oneOf: [{ required: ['a'] }, { required: ['b'], properties: { b: { type: 'string' } } }],
  };
  const before = structuredClone(given);

  const { schema, rule } = projected(given);

  expect(schema).toEqual({
    type: 'object',
    properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] }, b: { type: 'string' } },
  });
  expect(rule).toContain('"oneOf":[{"required":["a"]}');
  expect(given).toEqual(before);
});

test.each([
  ['nothing', {}, { type: 'object', properties: {} }],
  [
    'an array without items',
    { properties: { l: { type: 'array' } } },
    { type: 'object', properties: { l: { type: 'array', items: {} } } },
  ],
  [
    'a reference',
    { $defs: { c: { type: 'string' } }, properties: { c: { $ref: '#/$defs/c' } } },
    { type: 'object', properties: { c: { type: 'string' } } },
  ],
  [
    'recursion',
    { properties: { kid: { $ref: '#' } } },
    { type: 'object', properties: { kid: { properties: { kid: {} } } } },
  ],
  ['a schema that is a boolean', { properties: { a: true } }, { type: 'object', properties: { a: {} } }],
  [
    'closed parameters',
    { type: 'object', additionalProperties: false, required: ['x'] },
    { type: 'object', additionalProperties: false, required: ['x'], properties: {} },
  ],
])('parameters with %s are projected', (_what, given, expected) => {
  expect(projected(given).schema).toEqual(expected);
});

test('K059: a projected tool never claims to be strict, and optional properties stay optional', () => {
  const compiled = new CompiledTools(
    [
      tool('f', {
        type: 'object',
        properties: { q: { type: 'string' }, limit: { type: 'integer' } },
        required: ['q'],
      }),
    ],
    rules,
  );

  expect(compiled.tools[0]).not.toHaveProperty('strict');
  expect(compiled.tools[0]?.parameters.parse()).toMatchObject({ required: ['q'] });
});

test('one function that cannot be projected is left out alone, with a warning', () => {
  const huge = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`p${n}`, {}])),
  };

  const compiled = new CompiledTools([tool('good'), tool('huge', huge), tool('fine')], rules);

  expect(compiled.tools.map(({ name }) => name)).toEqual(['good', 'fine']);
  expect(compiled.warnings).toEqual(["tool 'huge' is left out: the parameters hold more than 4000 schemas"]);
});

test('a bomb of references is refused in no time', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 22 }, (_, n) => [
      `d${n}`,
      { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
    ]),
  );

  expect(projectParameters({ $defs, properties: { a: { $ref: '#/$defs/d0' } } }, rules)).toEqual({
    refused: 'the parameters hold more than 4000 schemas',
  });
});

test('the exported tools have the types of the official clients', () => {
  const { tools } = new CompiledTools([tool('f')], rules);
  const openai: OpenAI.ChatCompletionTool[] = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters: { ...(parameters.parse() as Record<string, unknown>) } },
  }));
  const anthropic: Anthropic.Tool[] = tools.map(({ name, description }) => ({
    name,
    description,
    input_schema: { type: 'object' },
  }));

  expect([openai.length, anthropic.length]).toEqual([1, 1]);
});

/** An adapter that keeps what it is asked and says what it is told. */
function scripted(parts: readonly ModelPart[]): { readonly model: Model; readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    model: {
      async *stream(request) {
        requests.push(request);
        await Promise.resolve();
        yield* parts;
      },
    },
  };
}

async function step(
  model: Model,
  messages: readonly ModelMessage[],
  tools: readonly ModelTool[],
): Promise<ModelPart[]> {
  const said: ModelPart[] = [];
  for await (const part of model.stream({ messages, tools, signal: new AbortController().signal }))
    said.push(part);
  return said;
}

test('K051: the adapter sees mapped names, the run sees the real ones', async () => {
  const mapped = toolNames(['get.weather']).toProvider('get.weather');
  const { model, requests } = scripted([{ type: 'tool-call', callId: 'a', name: mapped, args: '{}' }]);
  const history: ModelMessage[] = [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', callId: 'z', name: 'get.weather', args: new JsonText('{}') }],
    },
    { role: 'tool', results: [{ callId: 'z', name: 'get.weather', content: '1', isError: false }] },
  ];

  const said = await step(withProviderTools(model, rules), history, [tool('get.weather')]);

  expect(said).toMatchObject([{ type: 'tool-call', name: 'get.weather' }]);
  expect(requests[0]?.tools.map(({ name }) => name)).toEqual([mapped]);
  expect(requests[0]?.messages).toMatchObject([
    { content: [{ name: mapped }] },
    { results: [{ name: mapped }] },
  ]);
});

test('of 500 functions 127 are tools of their own, and the rest is called through call_function, args untouched', async () => {
  const tools = Array.from({ length: 500 }, (_, n) => tool(`f${n}`));
  const args = '{"n": 9007199254740993}';
  const { model, requests } = scripted([
    { type: 'tool-call', callId: 'a', name: 'call_function', args: `{"name":"f499","arguments": ${args}}` },
    { type: 'tool-call', callId: 'b', name: 'f3', args: '{}' },
  ]);
  const history: ModelMessage[] = [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', callId: 'z', name: 'f400', args: new JsonText(args) }],
    },
  ];
  const wrapped = withProviderTools(model, rules);

  const said = await step(wrapped, history, tools);

  expect(wrapped.maxTools).toBe(128);
  expect(requests[0]?.tools).toHaveLength(128);
  expect(requests[0]?.tools.at(-1)?.name).toBe('call_function');
  expect(said).toMatchObject([
    { name: 'f499', args },
    { name: 'f3', args: '{}' },
  ]);
  expect(requests[0]?.messages).toMatchObject([
    { content: [{ name: 'call_function', args: { text: `{"name":"f400","arguments":${args}}` } }] },
  ]);
});

test('list_functions pages through the functions and searches by words', async () => {
  const tools = Array.from({ length: 45 }, (_, n) =>
    tool(`f${n}`, undefined, n === 44 ? 'Retrieve the weather' : 'other'),
  );
  const listing = listFunctionsTool('list_functions', tools);
  const run = async (args: Record<string, string | number>) =>
    listing.run(args, { signal: new AbortController().signal });

  expect(await run({})).toMatchObject({ total: 45, nextOffset: 20 });
  expect(await run({ offset: 40 })).toMatchObject({
    total: 45,
    functions: [{ name: 'f40' }, {}, {}, {}, { name: 'f44' }],
  });
  expect(await run({ query: 'Weather retrieve' })).toMatchObject({ total: 1, functions: [{ name: 'f44' }] });
  await expect(run({ offset: -1 })).rejects.toMatchObject({ code: 'invalid-arguments' });
});

test('tools whose schemas are too much together are left out', () => {
  const branches = Array.from({ length: 900 }, (_, n) => ({
    properties: { k: { const: n }, [`a${n}`]: { type: 'string' } },
  }));
  const tools = Array.from({ length: 300 }, (_, n) => tool(`f${n}`, { type: 'object', anyOf: branches }));

  const compiled = new CompiledTools(tools, rules);

  expect(compiled.tools.length).toBeGreaterThan(20);
  expect(compiled.warnings).toHaveLength(300 - compiled.tools.length);
  expect(compiled.warnings.at(-1)).toBe(
    "tool 'f299' is left out: the parameters of all functions together are too large",
  );
});
